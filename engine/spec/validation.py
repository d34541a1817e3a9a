"""Turns a document into a pydantic model, or into every fault with its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from engine.errors import Diagnostic, InputError, SpecError
from engine.spec.model_walk import keys_at
from engine.spec.places import Document
from engine.spec.wording import describe, explain, near_words

__all__ = ["in_order", "validate", "validation_faults"]

M = TypeVar("M", bound=BaseModel)
_MAX_FAULTS = 100


def validate(document: Document, model: type[M], *, error: type[InputError] = SpecError) -> M:
    """Return the model that a document describes.

    Parameters
    ----------
    document : Document
        From :func:`engine.spec.yaml_source.read_yaml`.
    model : type of BaseModel
    error : type of InputError
        What is raised, with all faults in the order of their lines.

    Raises
    ------
    InputError
        Of class ``error``.
    """
    value, faults = validation_faults(document, model)
    faults += document.faults
    if value is None or faults:
        raise error.of_file(in_order(faults))
    return value


def validation_faults(document: Document, model: type[M]) -> tuple[M | None, list[Diagnostic]]:
    """Return the model and no fault, or None and all faults."""
    if not isinstance(document.data, dict):
        what = f"the file must hold keys and values (key: value), not {describe(document.data)}"
        return None, [document.diagnostic((), what)]
    try:
        return model.model_validate(document.data), []
    except ValidationError as problem:
        errors = problem.errors(include_url=False)
    return None, [_fault(document, model, entry) for entry in _without_echoes(model, errors)]


def in_order(faults: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return faults by line and column, each once, at most 100."""
    unique = dict.fromkeys(faults)
    return sorted(unique, key=lambda fault: (fault.line, fault.column))[:_MAX_FAULTS]


def _without_echoes(model: type[BaseModel], errors: Sequence[Any]) -> list[Any]:
    """Leave out faults that only follow from others.

    A list is too short because its entries are wrong; a key is missing because it is misspelt.
    """
    misspelt = {
        (*entry["loc"][:-1], near[0])
        for entry in errors
        if entry["type"] == "extra_forbidden"
        and (near := near_words(str(entry["loc"][-1]), keys_at(model, entry["loc"][:-1])))
    }
    return [
        entry
        for entry in errors
        if not (entry["type"] == "missing" and tuple(entry["loc"]) in misspelt)
        and not (entry["type"] == "too_short" and any(_inside(other, entry) for other in errors))
    ]


def _inside(entry: Any, outer: Any) -> bool:
    return len(entry["loc"]) > len(outer["loc"]) and entry["loc"][: len(outer["loc"])] == outer["loc"]


def _fault(document: Document, model: type[BaseModel], entry: Any) -> Diagnostic:
    loc, kind = tuple(entry["loc"]), entry["type"]
    if loc[-1:] == ("[key]",):
        return document.diagnostic(loc[:-1], "the name " + explain(entry), key=True)
    if kind == "extra_forbidden":
        return document.diagnostic(loc, explain(entry, keys_at(model, loc[:-1])), key=True)
    context = entry.get("ctx", {})
    if kind == "rule":
        loc = (*loc, context["field"])
    elif kind == "union_tag_invalid":
        loc = (*loc, context["discriminator"].strip("'"))
    return document.diagnostic(loc, explain(entry))
