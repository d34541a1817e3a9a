"""How Moodle reads a Cloze text: fields such as ``{2:NUMERICAL:=0.5:0.01#feedback}`` in it.

Written from the documented syntax and from how Moodle 4.5 takes it apart: a field ends at the first ``}``
that no ``\\`` precedes; answers are separated by ``~``, feedback begins with ``#``; a backslash (and, before
``#``, an ampersand) keeps a sign from doing so. Then entities are resolved once.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

__all__ = ["ClozeAnswer", "ClozeField", "cloze_fields"]


@dataclass(frozen=True)
class ClozeAnswer:
    """One answer of a field."""

    text: str
    fraction: float
    feedback: str = ""
    tolerance: float = 0.0


@dataclass(frozen=True)
class ClozeField:
    """One field: its kind is ``numerical``, ``shortanswer`` or ``multichoice``."""

    kind: str
    weight: int
    answers: tuple[ClozeAnswer, ...]
    usecase: bool = False
    single: bool = True


_SHAPES = ("", "_V", "_H", "_S", "_VS", "_HS")
_SHORT = ("", "V", "H", "S", "VS", "HS")
_CHOICES = {f"MULTICHOICE{shape}" for shape in _SHAPES} | {f"MC{shape}" for shape in _SHORT}
_SEVERAL = {f"MULTIRESPONSE{shape}" for shape in ("", "_H", "_S", "_HS")} | {
    f"MR{shape}" for shape in ("", "H", "S", "HS")
}
_WORDS = {"SHORTANSWER", "SA", "MW"}
_CASED_WORDS = {"SHORTANSWER_C", "SAC", "MWC"}
_NUMBERS = {"NUMERICAL", "NM"}
_START = re.compile(r"\{([0-9]*):([A-Z_]+):")
_FRACTION = re.compile(r"=|%(-?[0-9]+(?:[.,][0-9]*)?)%")
_NUMERAL = r"-?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][-+]?[0-9]+)?"
_TOLERANCE = re.compile(rf"({_NUMERAL})(?::({_NUMERAL}))?")


def cloze_fields(text: str) -> tuple[list[ClozeField], list[str]]:
    """Return the fields of a text, and what would keep Moodle from taking it."""
    fields, faults = [], []
    offset = 0
    while (start := _START.search(text, offset)) is not None:
        kind = start[2]
        if kind not in _CHOICES | _SEVERAL | _WORDS | _CASED_WORDS | _NUMBERS:
            offset = start.start() + 1
            continue
        answers, end = _answers(text, start.end())
        if end is None or not answers:
            faults.append(f"the field {text[start.start() : start.start() + 40]!r} doesn't end")
            break
        fields.append(_field(kind, int(start[1] or "1"), answers, faults))
        offset = end
    if not fields:
        faults.append("the text holds no field")
    # Moodle puts such marks where fields were: one in the text would be taken for a field.
    if re.search(r"\{#\d+\}", text):
        faults.append("the text holds a mark such as {#1}")
    return fields, faults


def _answers(text: str, offset: int) -> tuple[list[tuple[str, str, str]], int | None]:
    """Return fraction, raw answer and raw feedback of each answer, and where the field ends."""
    answers = []
    while True:
        mark = _FRACTION.match(text, offset)
        fraction = mark[0] if mark is not None else ""
        begin = mark.end() if mark is not None else offset
        end = _stop(text, begin + 1, "~#}", ("\\", "&", "&amp;"))
        if end is None:
            return answers, None
        answer, feedback = text[begin:end], ""
        if text[end] == "#":
            begin = end + 1
            end = _stop(text, begin, "~}", ("\\",))
            if end is None:
                return answers, None
            feedback = text[begin:end]
        answers.append((fraction, answer, feedback))
        if text[end] == "}":
            return answers, end + 1
        offset = end + 1


def _stop(text: str, begin: int, signs: str, guards: tuple[str, ...]) -> int | None:
    """Return where the first of some signs stands that none of the guards precedes."""
    for place in range(begin, len(text)):
        if text[place] in signs and not text[:place].endswith(guards):
            return place
    return None


def _field(kind: str, weight: int, answers: list[tuple[str, str, str]], faults: list[str]) -> ClozeField:
    parts = []
    for fraction, raw, raw_feedback in answers:
        share = 1.0 if fraction == "=" else float(fraction.strip("%").replace(",", ".") or 0) / 100
        feedback = _plain(raw_feedback)
        number = _TOLERANCE.fullmatch(raw) if kind in _NUMBERS else None
        if number is not None:
            tolerance = float((number[2] or "0").replace(",", "."))
            parts.append(ClozeAnswer(number[1], share, feedback, tolerance))
            continue
        text = _plain(raw)
        if kind in _NUMBERS and text.strip() != "*":
            faults.append(f"the answer {raw!r} isn't a number")
        parts.append(ClozeAnswer(text.strip(), share, feedback))
    texts = [part for part in parts if part.text]
    single = kind not in _SEVERAL
    if len(texts) < (2 if kind in _CHOICES | _SEVERAL else 1):
        faults.append(f"a field {kind} has too few answers")
    if not any(part.fraction == 1 or (not single and part.fraction > 0) for part in texts):
        faults.append(f"no answer of a field {kind} is worth 100 %")
    if kind in _NUMBERS:
        return ClozeField("numerical", weight, tuple(parts))
    if kind in _WORDS | _CASED_WORDS:
        return ClozeField("shortanswer", weight, tuple(parts), usecase=kind in _CASED_WORDS)
    return ClozeField("multichoice", weight, tuple(parts), single=single)


def _plain(raw: str) -> str:
    return html.unescape(raw).replace("\\}", "}").replace("\\#", "#")
