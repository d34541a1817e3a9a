"""Item response theory: abilities and items on one scale, by marginal maximum likelihood."""

from engine.analysis.irt.abilities import Abilities, abilities
from engine.analysis.irt.fit import FEWEST_ITEMS, FEWEST_STUDENTS, fit_model
from engine.analysis.irt.grid import Grid
from engine.analysis.irt.item_fit import ItemFit, item_fits
from engine.analysis.irt.model import ItemParameters, Model, ModelFit, NoFit
from engine.analysis.irt.model_fit import Comparison, PatternFit, compared, pattern_fit

__all__ = [
    "FEWEST_ITEMS",
    "FEWEST_STUDENTS",
    "Abilities",
    "Comparison",
    "Grid",
    "ItemFit",
    "ItemParameters",
    "Model",
    "ModelFit",
    "NoFit",
    "PatternFit",
    "abilities",
    "compared",
    "fit_model",
    "item_fits",
    "pattern_fit",
]
