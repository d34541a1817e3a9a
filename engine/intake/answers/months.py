"""Names of months, as forms and spreadsheets write them in a few languages."""

from __future__ import annotations

__all__ = ["MONTHS"]

_NAMES = (
    "january jan januar janvier janv",
    "february feb februar février févr",
    "march mar märz mrz mars",
    "april apr avril avr",
    "may mai",
    "june jun juni juin",
    "july jul juli juillet juil",
    "august aug août",
    "september sep sept septembre",
    "october oct oktober okt octobre",
    "november nov novembre",
    "december dec dezember dez décembre déc",
)
# Small letters → 1 to 12.
MONTHS = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
