r"""Cloze texts of Moodle: fields in the midst of a text, for vectors, matrices and steps.

A field such as ``{2:NUMERICAL:=0.5:0.01#well done~%0%0.7:0.01#no}`` ends at ``}``; ``~``, ``#``, ``=``, ``%``
and the backslash mean something in it. Moodle resolves entities in it once, so that every such sign is
written as an entity, and the ampersands of HTML twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from html import escape
from math import gcd, lcm
from typing import TypeAlias

from engine.export.exported_fields import (
    ChoiceField,
    EssayField,
    ExportedField,
    MatchField,
    NumberEntry,
    NumbersField,
    OrderField,
    WordsField,
)
from engine.export.moodle_html import MoodleText, moodle_line, moodle_text, moodle_words
from engine.export.spellings import accepted_spellings

_ENTITIES = str.maketrans(
    {
        "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "}": "&#125;", "{": "&#123;", "#": "&#35;",
        "~": "&#126;", "\\": "&#92;", "=": "&#61;", "%": "&#37;",
    }
)  # fmt: skip
AnswerCells: TypeAlias = tuple[str, str, str, str]
RIGHT, WRONG = "right", "wrong"
"""What is picked for each option where every decision counts."""


def cloze_html(html: str) -> str:
    r"""Return HTML as it stands in a field."""
    # Moodle takes the backslash of \} away after it has resolved entities: TeX has another name for it.
    return html.replace("\\}", "\\rbrace ").translate(_ENTITIES)


def percentage(share: Fraction | float | Decimal) -> str:
    """Return a share as Moodle writes percentages: up to five decimals, no noughts at the end."""
    text = f"{float(share) * 100:.5f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def number_answers(
    entry: NumberEntry, wrong: Iterable[tuple[NumberEntry, str]], near_credit: Decimal = Decimal(0)
) -> list[AnswerCells]:
    """Return the answers of one number in the order of their comparison.

    Returns
    -------
    list of AnswerCells
        Percentage, number, tolerance, and the HTML of the feedback. The rounded key comes first: Moodle shows
        it as the right answer. It reaches as far as the nearer bound; the middle of the bounds does the rest.
    """
    middle, reach = (entry.lower + entry.upper) / 2, (entry.upper - entry.lower) / 2

    def answer(share: str, number: Decimal, tolerance: Decimal, feedback: str = "") -> AnswerCells:
        return share, number_digits(number), number_digits(tolerance), feedback

    answers = []
    key = Decimal(entry.right)
    if key != middle and entry.lower <= key <= entry.upper:
        answers.append(answer("100", key, min(key - entry.lower, entry.upper - key)))
    answers.append(answer("100", middle, reach))
    if entry.near is not None and near_credit:
        low, high = entry.near
        answers.append(answer(percentage(near_credit), (low + high) / 2, (high - low) / 2))
    for known, feedback in wrong:
        # around the rounded number: a mistake earns nothing, so that its bounds needn't be exact
        width = (known.upper - known.lower) / 2
        answers.append(answer("0", Decimal(known.right), width, moodle_words(feedback)))
    return answers


def number_digits(number: Decimal) -> str:
    """Return a number in digits, without an exponent."""
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def accepted_ways(field: WordsField) -> dict[str, Fraction]:
    """Return the texts that are listed, with the share that each earns; Moodle trims what is typed."""
    ways: dict[str, Fraction] = {}
    for text, share in accepted_spellings(field).items():
        ways.setdefault(text.strip(), Fraction(Decimal(str(share))))
    return ways


def pattern(text: str) -> str:
    """Return a text as a pattern of Moodle's that only it meets: an asterisk stands for anything there."""
    return text.replace("*", "\\*")


def _field(weight: int, kind: str, answers: Iterable[tuple[str, str, str]]) -> str:
    """Return a field from the percentage, the ready answer and the HTML of the feedback of each answer."""
    parts = []
    for share, answer, feedback in answers:
        mark = "=" if share == "100" else f"%{share}%"
        words = f"#{cloze_html(feedback)}" if feedback else ""
        parts.append(f"{mark}{answer}{words}")
    return f"{{{weight}:{kind}:{'~'.join(parts)}}}"


def numbers_html(field: NumbersField, weight: int) -> str:
    """Return fields, one for each entry: a matrix is a table, a vector a line in brackets."""
    fields = []
    for place, entry in enumerate(field.entries):
        wrong = [(known.entries[place], known.feedback) for known in field.wrong]
        answers = [
            (share, f"{number}:{reach}", feedback)
            for share, number, reach, feedback in number_answers(entry, wrong, field.near_credit)
        ]
        fields.append(_field(weight, "NUMERICAL", answers))
    if not field.shape:
        unit = f" {moodle_words(field.unit)}" if field.unit else ""
        return f"<p>{fields[0]}{unit}</p>"
    if len(field.shape) == 1:
        return f"<p>[ {', '.join(fields)} ]</p>"
    width = field.shape[-1]
    rows = [fields[start : start + width] for start in range(0, len(fields), width)]
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tbody>{cells}</tbody></table>"


def decisions_html(field: ChoiceField, weight: int) -> str:
    """Return the options, each with a field for whether it is right."""
    entries = []
    for option in field.options:
        # the reason is shown to whoever calls a wrong option right
        feedback = moodle_words(option.feedback)
        answers = [
            ("100" if option.correct else "0", RIGHT, "" if option.correct else feedback),
            ("0" if option.correct else "100", WRONG, ""),
        ]
        entries.append(
            f"<li><p>{moodle_line(option.text)}</p><p>{_field(weight, 'MULTICHOICE_H', answers)}</p></li>"
        )
    return f"<ul>{''.join(entries)}</ul>"


def several_shares(field: ChoiceField) -> tuple[Fraction, Fraction]:
    """Return what a right and a wrong pick earn in Moodle, which adds them up, for a policy of ours.

    ``exact``: one wrong pick takes everything, as near as adding comes to all or nothing. ``coverage``: a
    wrong pick beside all right ones costs 1/(c + 1) of the points there.
    """
    right = sum(option.correct for option in field.options)
    share = Fraction(1, right)
    penalty = {"exact": Fraction(-1), "coverage": Fraction(-1, right + 1)}.get(field.policy, -share)
    return share, penalty


def _choice_html(field: ChoiceField, weight: int) -> str:
    if field.multiple and field.policy == "each-answer":
        return decisions_html(field, weight)
    right, wrong = several_shares(field) if field.multiple else (Fraction(1), Fraction(0))
    answers = [
        (
            percentage(right if option.correct else wrong),
            cloze_html(moodle_line(option.text)),
            moodle_words(option.feedback),
        )
        for option in field.options
    ]
    if field.multiple:
        # a full share is written as a percentage, too: an equals sign would make the others worthless
        parts = "~".join(f"%{s}%{a}" + (f"#{cloze_html(f)}" if f else "") for s, a, f in answers)
        return f"<p>{{{weight}:MULTIRESPONSE:{parts}}}</p>"
    return f"<p>{_field(weight, 'MULTICHOICE_V', answers)}</p>"


def _words_html(field: WordsField, weight: int) -> str:
    kind = "SHORTANSWER_C" if field.case_sensitive else "SHORTANSWER"
    answers = [
        (percentage(share), cloze_html(pattern(way)), "") for way, share in accepted_ways(field).items()
    ]
    answers += [
        ("0", cloze_html(pattern(" ".join(text.split()))), moodle_words(feedback))
        for text, feedback in field.wrong
    ]
    return f"<p>{_field(weight, kind, answers)}</p>"


def _order_html(field: OrderField, weight: int) -> str:
    texts = {card.id: card.text for card in field.cards}
    # a menu for each place, from which a card is picked; a card may be picked twice
    fields = []
    for place, right in enumerate(field.order, start=1):
        answers = [
            ("100" if card.id == right else "0", escape(texts[card.id].plain).translate(_ENTITIES), "")
            for card in field.cards
        ]
        fields.append(f"<li>Place {place}: {_field(weight, 'MULTICHOICE', answers)}</li>")
    return f"<ul>{''.join(fields)}</ul>"


def _match_html(field: MatchField, weight: int) -> str:
    fields = []
    for prompt in field.prompts:
        feedback = moodle_words(prompt.feedback)
        answers = [
            (
                "100" if target.id == field.pairs[prompt.id] else "0",
                escape(target.text.plain).translate(_ENTITIES),
                "" if target.id == field.pairs[prompt.id] else feedback,
            )
            for target in field.targets
        ]
        fields.append(
            f"<li><p>{moodle_line(prompt.text)}</p><p>{_field(weight, 'MULTICHOICE', answers)}</p></li>"
        )
    return f"<ul>{''.join(fields)}</ul>"


def cloze_count(field: ExportedField) -> int:
    """Return how many fields of a Cloze text a field of ours becomes."""
    if isinstance(field, NumbersField):
        return len(field.entries)
    if isinstance(field, OrderField):
        return len(field.order)
    if isinstance(field, MatchField):
        return len(field.prompts)
    if isinstance(field, ChoiceField) and field.multiple and field.policy == "each-answer":
        return len(field.options)
    return 1


def field_html(field: ExportedField, weight: int) -> str:
    """Return the HTML of a field, each of whose Cloze fields has the same weight."""
    if isinstance(field, NumbersField):
        return numbers_html(field, weight)
    if isinstance(field, ChoiceField):
        return _choice_html(field, weight)
    if isinstance(field, WordsField):
        return _words_html(field, weight)
    if isinstance(field, OrderField):
        return _order_html(field, weight)
    if isinstance(field, MatchField):
        return _match_html(field, weight)
    raise TypeError(f"a Cloze text has no field for {type(field).__name__}")


def steps_text(fields: Sequence[ExportedField], pictures: int = 0) -> MoodleText:
    """Return the steps as a numbered list, each with what it asks and its fields.

    Parameters
    ----------
    fields : sequence of ExportedField
        Without answers in words.
    pictures : int
        How many pictures stand before them.
    """
    entries: list[str] = []
    files: list[tuple[str, bytes]] = []
    for field, weight in zip(fields, weights(fields), strict=True):
        prompts = () if field.prompt is None else (field.prompt,)
        prompt = moodle_text(*prompts, pictures=pictures + len(files))
        files += prompt.files
        entries.append(f"<li>{prompt.html}{field_html(field, weight)}</li>")
    return MoodleText(f"<ol>{''.join(entries)}</ol>", tuple(files))


def weights(fields: Sequence[ExportedField]) -> list[int]:
    """Return the weight of the Cloze fields of each field: whole numbers, in proportion to the points."""
    assert not any(isinstance(field, EssayField) for field in fields)
    # Moodle reads whole numbers only; what a field counts is shared by its entries
    shares = [Fraction(Decimal(str(field.points))) / cloze_count(field) for field in fields]
    scale = lcm(*(share.denominator for share in shares))
    whole = [int(share * scale) for share in shares]
    divisor = gcd(*whole)
    return [number // divisor for number in whole]
