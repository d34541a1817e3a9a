"""Who chose which option, over all students' shuffled letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.analysis import ChoiceTable, choice_table
from engine.analysis.scores import Floats
from engine.itemreport.work import OptionSeen, Work

__all__ = ["OptionTable", "option_tables"]

# Texts of one kind beyond which they are numbers of variants, and not options that could be listed.
_MOST_TEXTS = 12
_ANY_RIGHT, _ANY_WRONG = "the right answer (its text differs)", "other wrong options (their texts differ)"
_KEY, _MISTAKE, _OTHER = "key:", "mistake:", "other:"


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
    shown : mapping of str to int
        Option → students who had it among theirs.
    table : ChoiceTable
    """

    part: str
    texts: Mapping[str, str]
    misconceptions: Mapping[str, str]
    shown: Mapping[str, int]
    table: ChoiceTable


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
    made = [next((one for one in work.made if one.part == part), None) for work in works]
    has = [at for at, one in enumerate(made) if one is not None]
    answers = [one for one in made if one is not None]
    codes = _codes({option for one in answers for option in one.shown})
    texts: dict[str, str] = {}
    for option, code in codes.items():
        told = _text(code, option)
        texts[code] = (
            told if texts.setdefault(code, told) == told else sentences.get(option.misconception, told)
        )
    shown: dict[str, int] = {}
    for one in answers:
        for code in {codes[option] for option in one.shown}:
            shown[code] = shown.get(code, 0) + 1
    keys = {code for option, code in codes.items() if option.correct}
    behind = {code: option.misconception for option, code in codes.items() if code.startswith(_MISTAKE)}
    table = choice_table(
        [{codes[one.shown[at]] for at in one.chosen} for one in answers],
        standing[has],
        keys=keys,
        options=sorted(shown, key=lambda code: (code not in keys, -shown[code], code)),
        names=behind,
    )
    return OptionTable(part, texts, behind, shown, table)


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
