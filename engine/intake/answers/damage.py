"""What spreadsheets make of answers: dates of fractions, sums of formulas, rounded numbers."""

from __future__ import annotations

import re

from engine.foreign import clean_line
from engine.intake.answers.months import MONTHS

__all__ = ["damage"]

_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\.?"
_DATE = re.compile(
    rf"\d{{1,2}}[. /-]{{1,2}}{_MONTH}([. /-]{{1,2}}\d{{2,4}})?"
    rf"|{_MONTH}[. /-]{{1,2}}\d{{1,4}}"
    r"|\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?)?"
    r"|(\d{1,2})([./])\d{1,2}\5(\d{4}|\d{2})( \d{1,2}:\d{2}(:\d{2})?)?",
    re.IGNORECASE,
)
_TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2})?( ?[AP]M)?")
# A spreadsheet shortens large and tiny numbers only: 1.35E+01 was typed.
_ROUNDED = re.compile(r"-?\d([.,]\d+)?E[+-](?:0[5-9]|[1-9]\d|\d{3})")
_NO_FORMULA = re.compile(
    r"=\s*+[+\-−–]?\s*+(?:[0-9]++(?:[.,][0-9]++)?|[.,][0-9]++)"
)  # "= 0.5": nothing in it to compute
_ERROR = re.compile(r"#(DIV/0!|N/A|NAME\?|NULL!|NUM!|REF!|VALUE!|SPILL!|CALC!|WERT!|BEZUG!|NV)")


def damage(text: str) -> str | None:
    """Return what a spreadsheet has made of an answer, None where it looks as somebody typed it.

    ``01.Feb`` was perhaps 1/2, and nobody can know it: such an answer isn't marked.
    """
    shown = clean_line(text, 40)
    if text.startswith("=") and not _NO_FORMULA.fullmatch(text):
        return f"the cell holds a formula ({shown}): formulas aren't computed"
    if _ERROR.fullmatch(text):
        return f"the cell holds an error of the spreadsheet ({shown})"
    if _DATE.fullmatch(text) or _TIME.fullmatch(text):
        return f"a spreadsheet has made a date or time of it ({shown})"
    if _ROUNDED.fullmatch(text):
        return f"a spreadsheet has shortened the number to {shown}"
    return None
