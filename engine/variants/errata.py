"""Errata: which are told with the item and which after it, and the printed options they accept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.model import Text
from engine.spec.schema import Erratum, ProblemSpec
from engine.variants.rounding import decimal_of
from engine.variants.values import array_of

__all__ = ["PRINTED_DIFFERS", "accepted_printed", "differs_from_printed", "gives_away"]

_DIFFERS = "The options differ from those that the source prints; the feedback says how and why."
PRINTED_DIFFERS = Text(_DIFFERS, _DIFFERS, _DIFFERS)
"""What is told with an item whose errata would give its key away."""


def speaks_of_options(erratum: Erratum) -> bool:
    """Return whether an erratum says what is wrong with printed options, and so what the key is."""
    return erratum.kind in ("nearest_option_misrounded", "no_correct_option")


def differs_from_printed(spec: ProblemSpec) -> bool:
    """Return whether students are told that other options are printed: not where the notes are left out."""
    return any(erratum.note and speaks_of_options(erratum) for erratum in spec.errata)


def gives_away(erratum: Erratum) -> bool:
    """Return whether an erratum is told with the feedback, because it would tell the answer before."""
    return erratum.after or speaks_of_options(erratum)


def accepted_printed(spec: ProblemSpec) -> tuple[Mapping[str, Any], ...]:
    """Return the printed options that count as right, each with the erratum that says so.

    Returns
    -------
    tuple of mapping
        ``letter``, ``erratum`` (id), ``note`` (its template; empty where notes are left out), and
        ``numbers`` (decimal strings) with ``shape``, or ``text``.
    """
    if spec.printed is None:
        return ()
    found = []
    for erratum in spec.errata:
        letter = erratum.intended_option
        if erratum.accept_intended and letter is not None and letter in spec.printed.options:
            value = _value(spec.printed.options[letter])
            found.append({"letter": letter, "erratum": erratum.id, "note": erratum.note, **value})
    return tuple(found)


def _value(option: Any) -> dict[str, Any]:
    if isinstance(option, str):
        return {"text": option}
    array = array_of(option)
    return {"shape": list(array.shape), "numbers": [str(decimal_of(value)) for value in array.data]}
