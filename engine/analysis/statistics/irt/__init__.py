"""Item response theory: abilities and items on one scale, by marginal maximum likelihood.

``fit`` estimates the models, ``likelihood`` has the numerics, ``item_fit`` tests whether a model describes
the class. The packages for Python that do this are unmaintained or many times slower, so it is written here
and held against published figures.
"""

from __future__ import annotations

from engine.analysis.statistics.irt.fit import (
    FEWEST_ITEMS,
    FEWEST_STUDENTS,
    AbilityEstimates,
    IrtModel,
    ItemParameters,
    ModelFit,
    NoFit,
    abilities,
    fit_model,
)
from engine.analysis.statistics.irt.item_fit import (
    ItemFit,
    PatternFit,
    SlopeTest,
    compared,
    item_fits,
    pattern_fit,
)
from engine.analysis.statistics.irt.likelihood import AbilityGrid

__all__ = [
    "FEWEST_ITEMS", "FEWEST_STUDENTS", "AbilityEstimates", "AbilityGrid", "IrtModel", "ItemFit",
    "ItemParameters", "ModelFit", "NoFit", "PatternFit", "SlopeTest", "abilities", "compared", "fit_model",
    "item_fits", "pattern_fit",
]  # fmt: skip
