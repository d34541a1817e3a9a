"""The types of Moodle questions that have no counterpart here: why, and what can be done."""

from __future__ import annotations

import re
from decimal import Decimal

from engine.exchange.moodle_xml.fields import Fields
from engine.exchange.moodle_xml.tree import Element
from engine.exchange.numerals import read_decimal
from engine.exchange.question import Skip
from engine.foreign import clean_line

__all__ = ["KNOWN_TYPES", "skipped_type"]

KNOWN_TYPES = ("multichoice", "truefalse", "shortanswer", "numerical", "matching")

_AS_STEPS = "write one item with 'steps', a step for each field: grade new item ID --type steps"
_AS_ORDER = "write it as an ordering item: grade new item ID --type ordering"
_AS_MATCHING = "write it as a matching item: grade new item ID --type matching"
_BY_HAND = "ask for something that can be marked by itself, such as a choice or a number"

_OTHERS: dict[str, tuple[str, str]] = {
    "essay": ("a free text is marked by a person", _BY_HAND),
    "description": (
        "it only shows a text and asks nothing",
        "put the text into the stem of the items that need it",
    ),
    "multianswer": ("a cloze text has several fields in one text", _AS_STEPS),
    "cloze": ("a cloze text has several fields in one text", _AS_STEPS),
    "randomsamatch": ("it draws its pairs from other questions", _AS_MATCHING),
    "random": ("it only stands for another question of its category", "draw items in the quiz's blueprint"),
    "ordering": ("ordering questions aren't read yet", _AS_ORDER),
    "gapselect": ("words are picked for gaps in a text", _AS_STEPS),
    "ddwtos": ("words are dragged into gaps of a text", _AS_STEPS),
    "ddimageortext": ("things are dragged onto a picture", _AS_MATCHING),
    "ddmarker": ("marks are dragged onto a picture", _BY_HAND),
    "match": ("it is no type of Moodle XML; the name is 'matching'", "correct the type"),
}
_CALCULATED = ("calculated", "calculatedsimple", "calculatedmulti")
_WILD_CARD = re.compile(r"\{([A-Za-z][A-Za-z0-9_]{0,31})\}")
_MAX_NAMED = 6


def skipped_type(kind: str, name: str, element: Element, fields: Fields) -> Skip | None:
    """Return why a question is passed over, None if its type is read."""
    if fields.words(element, "hidden") == "1":
        return Skip(
            name,
            kind,
            element.place,
            "it is hidden in Moodle, as deleted questions are",
            "show it there first",
        )
    if kind in KNOWN_TYPES:
        return None
    if kind in _CALCULATED:
        reason = "its numbers are drawn by Moodle, and its key is a formula of Moodle's"
        return Skip(name, kind, element.place, reason, _as_family(element, fields))
    if kind in _OTHERS:
        return Skip(name, kind, element.place, *_OTHERS[kind])
    return Skip(name, kind, element.place, f"the type '{clean_line(kind, 40)}' isn't known here", _BY_HAND)


def _as_family(element: Element, fields: Fields) -> str:
    """Return how a calculated question is written here: a family whose key is an expression."""
    parameters = [_parameter(definition, fields) for definition in _definitions(element)]
    named = ", ".join(parameters[:_MAX_NAMED])
    answer = element.first("answer")
    formula = fields.own_markup(answer).text if answer is not None else ""
    key = clean_line(_WILD_CARD.sub(r"\1", formula), 120)
    step = "write it as a family, whose key is recomputed: grade new item ID --type number"
    if named:
        step += f"; parameters: {{{named}}}"
    return f'{step}; key: "{key}" in our functions' if key else step


def _definitions(element: Element) -> list[Element]:
    holder = element.first("dataset_definitions")
    return list(holder.every("dataset_definition")) if holder is not None else []


def _parameter(definition: Element, fields: Fields) -> str:
    """Return a wild card as a parameter of ours."""
    low, high = (read_decimal(fields.words(definition, tag)) for tag in ("minimum", "maximum"))
    places = read_decimal(fields.words(definition, "decimals")) or Decimal(0)
    name = clean_line(fields.words(definition, "name"), 32)
    if low is None or high is None or not 0 <= places <= 9:
        return f"{name}: {{kind: decimal, range: [LOW, HIGH], step: STEP}}"
    step = Decimal(1).scaleb(-int(places))
    return f"{name}: {{kind: decimal, range: [{_plain(low)}, {_plain(high)}], step: {step:f}}}"


def _plain(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
