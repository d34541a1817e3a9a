"""Who chose which option, over all students' shuffled letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.analysis import Choice, choice_table
from engine.analysis.scores import Floats
from engine.itemreport.work import OptionSeen, Work

__all__ = ["OptionRow", "OptionTable", "option_tables"]

# Texts of one kind beyond which they are numbers of variants, and not options that could be listed.
_MOST_TEXTS = 12
_ANY_RIGHT, _ANY_WRONG = "the right answer (its text differs)", "other wrong options (their texts differ)"
_KEY, _MISTAKE, _OTHER, _BLANK = "key:", "mistake:", "other:", ""


@dataclass(frozen=True, slots=True)
class OptionRow:
    """One option, over the students who had it among theirs; ``thirds`` are the sizes of their thirds."""

    choice: Choice
    shown: int
    thirds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OptionTable:
    """The options of one choice part.

    Parameters
    ----------
    part : str
    texts : mapping of str to str
        Option as the table has it → its text, or the mistake's sentence where its texts differ.
    misconceptions : mapping of str to str
        Option → id of the mistake behind it.
    rows : tuple of OptionRow
        Keys first, then what most students saw; at the end what was left blank, if it was.
    students : int
    """

    part: str
    texts: Mapping[str, str]
    misconceptions: Mapping[str, str]
    rows: tuple[OptionRow, ...]
    students: int


def option_tables(works: Sequence[Work], standing: Floats, sentences: Mapping[str, str]) -> list[OptionTable]:
    """Return a table for each choice part of an item.

    Options are one where the same mistake is behind them, or where they have the same text: letters are
    shuffled, and a variant may have its own numbers.

    Parameters
    ----------
    works : sequence of Work
        Of the students who were given the item.
    standing : array, shape (students,)
        On the other items.
    sentences : mapping of str to str
        Of misconceptions, by id.
    """
    parts = list(dict.fromkeys(made.part for work in works for made in work.made))
    return [_table(part, works, standing, sentences) for part in parts]


def _table(part: str, works: Sequence[Work], standing: Floats, sentences: Mapping[str, str]) -> OptionTable:
    found = [(made, float(at)) for work, at in zip(works, standing, strict=True) for made in work.made]
    own = [(made, at) for made, at in found if made.part == part]
    codes = _codes({option for made, _ in own for option in made.shown})
    texts: dict[str, str] = {}
    for option, code in codes.items():
        told = _text(code, option)
        if texts.setdefault(code, told) != told:
            texts[code] = sentences.get(option.misconception, told)
    # each option among those who saw it: a key that few variants have isn't one that few choose
    seen: dict[str, list[tuple[set[str], float]]] = {}
    for made, at in own:
        chosen = {codes[made.shown[place]] for place in made.chosen}
        for code in {*(codes[option] for option in made.shown), _BLANK}:
            seen.setdefault(code, []).append((chosen, at))
    keys = {code for option, code in codes.items() if option.correct}
    behind = {code: option.misconception for option, code in codes.items() if code.startswith(_MISTAKE)}
    order = sorted(
        (code for code in seen if code != _BLANK), key=lambda code: (code not in keys, -len(seen[code]), code)
    )
    rows = [_row(code, seen[code], keys) for code in order]
    if any(not made.chosen for made, _ in own):
        rows.append(_row(_BLANK, seen[_BLANK], keys))
    return OptionTable(part, texts, behind, tuple(rows), len(own))


def _row(code: str, seen: Sequence[tuple[set[str], float]], keys: set[str]) -> OptionRow:
    table = choice_table(
        [chosen for chosen, _ in seen],
        np.array([at for _, at in seen]),
        keys=keys,
        options=[code] if code else [],
    )
    choice = next(choice for choice in table.choices if choice.option == code)
    return OptionRow(choice, len(seen), table.group_sizes)


def _codes(options: set[OptionSeen]) -> dict[OptionSeen, str]:
    """Return under which name each option is counted.

    The same words may be right in one variant and wrong in another: these are two options.
    """
    right = {option.text for option in options if option.correct}
    wrong = {option.text for option in options if not option.correct and not option.misconception}
    one_right, one_wrong = (len(texts) > _MOST_TEXTS for texts in (right, wrong))
    codes = {}
    for option in sorted(options, key=lambda option: (option.text, option.misconception)):
        if option.correct:
            codes[option] = _KEY + ("" if one_right else option.text)
        elif option.misconception:
            codes[option] = _MISTAKE + option.misconception
        else:
            codes[option] = _OTHER + ("" if one_wrong else option.text)
    return codes


def _text(code: str, option: OptionSeen) -> str:
    if code in (_KEY, _OTHER):
        return _ANY_RIGHT if option.correct else _ANY_WRONG
    return option.text
