r"""GIFT, Moodle's plain text format, which other systems read, too.

A question is ``::title::[html]text{answers}``. The signs ``~ = # { } :`` and the backslash are escaped by a
backslash wherever they mean nothing, line ends become ``\n``, and an empty line ends a question. What has
several fields becomes several questions: there is no Cloze text here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

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
from engine.export.exported_item import ExportedFamily, ExportedItem, ExportedQuiz, ExportLoss
from engine.export.formats import QuizFormat
from engine.export.formats.moodle_xml import category_titles, listed_share, moodle_category, moodle_name
from engine.export.moodle_cloze import (
    RIGHT,
    WRONG,
    accepted_ways,
    number_digits,
    pattern,
    percentage,
    several_shares,
)
from engine.export.moodle_html import moodle_line, moodle_text, moodle_words
from engine.text.words import xml_characters

__all__ = ["FORMAT", "gift_text"]

_SIGNS = re.compile(r"[\\~=#{}:]")
_IMAGE = re.compile(r'<img src="[^"]*" alt="([^"]*)"/>')
_NOT_IN_TAGS = re.compile(r"[\[\]\x00-\x1f\x7f]")
_ARROW = "->"  # makes a pair of an answer, and can't be escaped


def gift_text(text: str) -> str:
    r"""Return a text with its signs escaped.

    >>> gift_text("{a = b}")
    '\\{a \\= b\\}'
    """
    escaped = _SIGNS.sub(r"\\\g<0>", xml_characters(text).replace("\r", ""))
    return escaped.replace("\n", "\\n")


def _html(html: str) -> str:
    # GIFT carries no files: a picture's description holds all its numbers
    return f"[html]{gift_text(_IMAGE.sub(lambda match: match[1], html))}"


def _feedback(html: str) -> str:
    return f"#{_html(html)}" if html else ""


@dataclass(frozen=True, slots=True)
class _GiftPart:
    """One question of an item: what is added to its name, to its text, and what stands between its braces."""

    suffix: str
    label: str
    text: str
    answers: list[str]


def _parts(item: ExportedItem) -> Iterator[_GiftPart]:
    for field in item.fields:
        is_step = len(item.fields) > 1
        prompt = moodle_text(field.prompt).html if field.prompt is not None else ""
        name = field.id if is_step else ""
        if isinstance(field, NumbersField) and field.shape:
            yield from _entries(field, name, prompt)
            continue
        unit = field.unit if isinstance(field, NumbersField) else ""
        text = f"{prompt}<p>(in {moodle_words(unit)})</p>" if unit else prompt
        yield _GiftPart(f"-{name}" if name else "", name, text, _answers(field))


def _entries(field: NumbersField, name: str, prompt: str) -> Iterator[_GiftPart]:
    for place, entry in enumerate(field.entries):
        wrong = [(known.entries[place], known.feedback) for known in field.wrong]
        label = f"{name}, {entry.label}" if name else entry.label
        yield _GiftPart(
            f"{f'-{name}' if name else ''}-{place + 1}",
            label,
            f"{prompt}<p>Enter {entry.label} only.</p>",
            _number_answers(entry, wrong, field.near_credit),
        )


def _answers(field: ExportedField) -> list[str]:
    if isinstance(field, ChoiceField):
        return _choice_answers(field)
    if isinstance(field, NumbersField):
        wrong = [(known.entries[0], known.feedback) for known in field.wrong]
        return _number_answers(field.entries[0], wrong, field.near_credit)
    if isinstance(field, WordsField):
        ways = [
            f"=%{percentage(listed_share(share))}%{gift_text(pattern(way))}"
            for way, share in accepted_ways(field).items()
            if _ARROW not in way
        ]
        known = [(" ".join(text.split()), feedback) for text, feedback in field.wrong]
        return ways + [
            f"=%0%{gift_text(pattern(text))}{_feedback(moodle_words(feedback))}"
            for text, feedback in known
            if _ARROW not in text
        ]
    if isinstance(field, MatchField):
        return _match_answers(field)
    # GIFT has no orders; a place for each card comes nearest
    if isinstance(field, OrderField):
        texts = {card.id: card.text.plain for card in field.cards}
        return [
            f"=[html]Place {n} {_ARROW} {gift_text(texts[card])}" for n, card in enumerate(field.order, 1)
        ]
    assert isinstance(field, EssayField)
    return []


def _choice_answers(field: ChoiceField) -> list[str]:
    texts = [_html(moodle_line(option.text)) for option in field.options]
    if field.multiple and field.policy == "each-answer":
        decisions = [RIGHT if option.correct else WRONG for option in field.options]
        return [f"={text} {_ARROW} {word}" for text, word in zip(texts, decisions, strict=True)]
    # Moodle lets students pick several where no option has an equals sign
    marks = ["=" if option.correct else "~" for option in field.options]
    if field.multiple:
        right, wrong = (percentage(listed_share(share)) for share in several_shares(field))
        marks = [f"~%{right if option.correct else wrong}%" for option in field.options]
    return [
        f"{mark}{text}{_feedback(moodle_words(option.feedback))}"
        for mark, text, option in zip(marks, texts, field.options, strict=True)
    ]


def _number_answers(
    entry: NumberEntry, wrong: Sequence[tuple[NumberEntry, str]], near_credit: Decimal
) -> list[str]:
    # without = before each number feedback can't follow it, and numbers have no exponent here
    answers = [f"=%100%{number_digits(entry.lower)}..{number_digits(entry.upper)}"]
    if entry.near is not None and near_credit:
        share = percentage(listed_share(Fraction(near_credit)))
        answers.append(f"=%{share}%{number_digits(entry.near[0])}..{number_digits(entry.near[1])}")
    # around the rounded number: a mistake earns nothing, so that its bounds needn't be exact
    for known, feedback in wrong:
        width = number_digits((known.upper - known.lower) / 2)
        answers.append(f"=%0%{known.right}:{width}{_feedback(moodle_words(feedback))}")
    return ["#", *answers]


def _match_answers(field: MatchField) -> list[str]:
    targets = {target.id: gift_text(target.text.plain) for target in field.targets}
    pairs = [
        f"={_html(moodle_line(prompt.text))} {_ARROW} {targets[field.pairs[prompt.id]]}"
        for prompt in field.prompts
    ]
    unused = [text for target, text in targets.items() if target not in set(field.pairs.values())]
    return pairs + [f"= {_ARROW} {text}" for text in unused]


def _question(item: ExportedItem, part: _GiftPart, name: str, tags: str) -> str:
    stem = moodle_text(item.variant.stem, *item.variant.notes).html
    general = moodle_text(*item.general_feedback).html
    end = f"\n####{_html(general)}" if general else ""
    inside = "".join(f"\n{answer}" for answer in part.answers)
    # an essay's braces hold nothing but the feedback
    closing = "\n}" if inside or end else "}"
    title = gift_text(f"{name} ({part.label})" if part.label else name)
    head = f"// [id:{item.name}{part.suffix}]{tags}\n::{title}::{_html(stem + part.text)}"
    return f"{head}{{{inside}{end}{closing}\n\n"


def _family(family: ExportedFamily, category_title: str, quiz: ExportedQuiz) -> Iterator[str]:
    title = moodle_name(family.title)
    path = [quiz.title, *family.category, category_title]
    tags = "".join(f" [tag:{_NOT_IN_TAGS.sub(' ', tag)}]" for tag in family.tags)
    # a question of several parts is drawn part by part: each has a category of its own
    by_part: dict[str, list[str]] = {}
    for number, item in enumerate(family.items, start=1):
        name = title if len(family.items) == 1 else f"{title} – {number}"
        for part in _parts(item):
            by_part.setdefault(part.label, []).append(_question(item, part, name, tags))
    for label, questions in by_part.items():
        category = moodle_category([*path, label] if len(by_part) > 1 else path)
        yield f"$CATEGORY: {category.rstrip()}\n\n"
        yield from questions


def _write(quiz: ExportedQuiz, advance: Callable[[], None]) -> bytes:
    parts: list[str] = []
    titles = category_titles(quiz)
    for family in quiz.families:
        parts += _family(family, titles[family.item], quiz)
        for _ in family.items:
            advance()
    return "".join(parts).encode("utf-8")


def _losses(family: ExportedFamily) -> Sequence[ExportLoss]:
    by_message: dict[tuple[str, str], ExportLoss] = {}

    def note(part: str, message: str, is_refusal: bool = False) -> None:
        by_message.setdefault((part, message), ExportLoss(family.item, part, message, is_refusal))

    for item in family.items:
        variant = item.variant
        if variant.hints:
            note("", "hints aren't kept")
        if any("<figure" in text.html for text in (variant.stem, *item.general_feedback)):
            note("", "pictures become their descriptions")
        if len(item.fields) > 1:
            note("", "each step is a question of its own, and is drawn by itself")
        if item.points != 1:
            note("", "its points aren't kept: every question counts 1 until the quiz says otherwise")
        for field in item.fields:
            part = "" if len(item.fields) == 1 else field.id
            for message, is_refusal in _field_losses(field):
                note(part, message, is_refusal)
    return tuple(by_message.values())


def _field_losses(field: ExportedField) -> Iterator[tuple[str, bool]]:
    if field.follows:
        yield "a step isn't marked with the student's own earlier values", False
    if isinstance(field, ChoiceField):
        yield from _choice_losses(field)
    elif isinstance(field, OrderField):
        yield "a place is picked for each card, and each card in its place earns its share", False
    elif isinstance(field, MatchField):
        yield from _match_losses(field)
    elif isinstance(field, NumbersField):
        if field.shape:
            yield "each entry is a question of its own, and is drawn by itself", False
        near = Fraction(field.near_credit)
        if near and listed_share(near) != near:
            yield f"{percentage(near)} % for a number that is off by rounding become the nearest share", False
    elif isinstance(field, WordsField):
        yield from _words_losses(field)
    else:
        yield "the rubric and the sample answer aren't kept", False


def _choice_losses(field: ChoiceField) -> Iterator[tuple[str, bool]]:
    if field.accepts_printed:
        yield "an option that only the source prints isn't accepted", False
    if not field.multiple:
        return
    changes = {
        "exact": "all or nothing becomes a share for each right pick, and nothing with any wrong one",
        "coverage": "a wrong pick costs a fixed share instead of one that depends on the number of picks",
        "each-answer": "each option is matched with 'right' or 'wrong'; one left out counts as wrong",
    }
    if field.policy in changes:
        yield changes[field.policy], False
    shares = several_shares(field)
    if field.policy != "each-answer" and tuple(map(listed_share, shares)) != shares:
        yield f"Moodle offers no share of {percentage(shares[0])} %; the nearest one is taken", False


def _match_losses(field: MatchField) -> Iterator[tuple[str, bool]]:
    if field.policy == "exact":
        yield "each right pair earns its share where all must be right", False
    if any(prompt.feedback for prompt in field.prompts):
        yield "feedback on single pairs isn't kept", False
    if any("<" in target.text.html for target in field.targets):
        yield "formulas and emphasis in the texts to pick from are shown as plain characters", False
    if len({" ".join(target.text.plain.split()) for target in field.targets}) < len(field.targets):
        yield "two texts to pick from look the same without their formulas", True


def _words_losses(field: WordsField) -> Iterator[tuple[str, bool]]:
    share = Fraction(Decimal(str(field.order_credit)))
    if listed_share(share) != share:
        yield f"{percentage(share)} % for sequences in another order become the nearest share", False
    if field.case_sensitive:
        yield "upper and lower case count as the same", False
    yield "only the ways to write the answer that are listed in the question count as right", False
    if all(_ARROW in way for way in accepted_ways(field)):
        yield "the answer holds ->, which makes a pair of it in GIFT", True
    elif any(_ARROW in text for text in field.accepted):
        yield "right texts that hold ->, which makes a pair of them in GIFT, aren't listed", False


FORMAT = QuizFormat("gift", "GIFT", ".gift", _losses, _write)
