"""The models of item response theory as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from engine.analysis.irt import Comparison, NoFit
from engine.itemreport.irt import RIGHT_FROM, Fitted, Irt

__all__ = ["models_json"]

_THETA = [round(-4 + step / 4, 2) for step in range(33)]


def models_json(irt: Irt) -> dict[str, Any]:
    """Return both models, how they compare, and which one is shown."""
    shown = irt.preferred
    comparison = irt.comparison
    return {
        "right_from_share": RIGHT_FROM,
        "rasch": _model(irt.rasch),
        "2pl": _model(irt.own_slopes),
        "comparison": asdict(comparison) if isinstance(comparison, Comparison) else None,
        "shown": None if shown is None else str(shown.fit.model),
    }


def _model(model: Fitted | NoFit) -> dict[str, Any]:
    if isinstance(model, NoFit):
        return {"reason": model.reason, "students": model.students, "left_out": dict(model.left_out)}
    fit, patterns = model.fit, model.patterns
    information = fit.information(np.array(_THETA)).sum(axis=0)
    fits = {} if isinstance(model.items, NoFit) else {one.item: one for one in model.items}
    return {
        "students": fit.students,
        "log_likelihood": fit.log_likelihood,
        "parameters": fit.parameters,
        "aic": fit.aic,
        "bic": fit.bic,
        "converged": fit.converged,
        "steps": fit.steps,
        "problems": fit.problems,
        "left_out": dict(fit.left_out),
        "ability_reliability": model.abilities.reliability,
        "items": [
            {
                **asdict(item),
                "s_x2": asdict(fits[item.item]) if item.item in fits else None,
                "observed": [asdict(point) for point in points],
            }
            for item, points in zip(fit.items, model.points, strict=True)
        ],
        "item_fit_reason": model.items.reason if isinstance(model.items, NoFit) else "",
        "patterns": {"reason": patterns.reason} if isinstance(patterns, NoFit) else asdict(patterns),
        "test_information": {"ability": _THETA, "information": [float(value) for value in information]},
    }
