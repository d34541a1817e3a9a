"""The fields of a problem of Open edX: options, dropdowns, numbers and words, each with its feedback."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from engine.authoring.importing.foreign_question import (
    NOTHING,
    AcceptedNumber,
    ForeignQuestion,
    ForeseenAnswer,
    ImportNote,
    MarkedText,
    QuestionKind,
    TextForm,
    read_decimal,
)
from engine.authoring.importing.gap_texts import html_text
from engine.authoring.importing.qti_fields import nearest_rule
from engine.authoring.importing.qti_item import html_of, plain_words
from engine.authoring.importing.qti_typed import without_spellings
from engine.authoring.importing.question_texts import UnfitError
from engine.authoring.importing.xml_tree import XmlElement
from engine.errors import ExpressionError
from engine.expressions.language import evaluate_number
from engine.text.words import clean_line

# what belongs to an option or a field, and isn't its text
_HINTS = ("choicehint", "optionhint", "correcthint", "compoundhint", "hintgroup", "hint")
_RANGE = re.compile(r"[\[(]([^,;\[\]()]{1,40}),([^,;\[\]()]{1,40})[\])]")
# Sums that both sides read alike; their logarithms have other names than ours.
_SUM = re.compile(r"(?:[0-9.+\-*/^() ]|sqrt(?=\()){1,60}")
_USUAL_TOLERANCE = Decimal("0.00001")  # a thousandth of a per cent of the answer, where none is stated
_OLD_OPTION = re.compile(r"'((?:[^'\\]|\\.){1,200})'|\"((?:[^\"\\]|\\.){1,200})\"")
_PARTIAL = Fraction(1, 2)  # of an answer that is called partly right
_MOST_OPTIONS = 60
_AS_FAMILY = "write it as a family, whose key is recomputed: grade new item ID --type number"


def words_of(element: XmlElement, *left_out: str) -> MarkedText:
    """Return what an element says, without its hints."""
    hidden = (*_HINTS, *left_out)
    html = html_of(element.content, lambda inner: "" if inner.tag in hidden else None)
    return MarkedText(html.strip(), TextForm.HTML)


def _hint_of(element: XmlElement, tag: str, selected: str = "true") -> MarkedText:
    for hint in element.every(tag):
        if hint.attributes.get("selected", "true").lower() == selected:
            return words_of(hint)
    return NOTHING


def _is_true(element: XmlElement) -> bool:
    return element.attributes.get("correct", "").strip().lower() == "true"


def _credit_of(response: XmlElement) -> str:
    credit = response.attributes.get("partial_credit", "").strip().lower()
    return "" if credit == "false" else credit


def radio_field(question: ForeignQuestion, response: XmlElement, *, is_own: bool) -> ForeignQuestion:
    """Return a choice of one option."""
    group = next((e for e in response.inside() if e.tag == "choicegroup"), response)
    choices = [e for e in group.inside() if e.tag == "choice"]
    _check_options(choices)
    answers = [_option(choice, _share_of(choice, response)) for choice in choices]
    notes = []
    if group.attributes.get("answer-pool"):
        notes.append(ImportNote("all its options are shown, where some of them were drawn", question.place))
    if any(e.tag == "compoundhint" for e in response.inside()):
        notes.append(ImportNote("hints for several picks together aren't kept", question.place))
    shuffles = is_own or group.attributes.get("shuffle", "false").lower() == "true"
    return replace(question, answers=tuple(answers), shuffle=shuffles).noting(*notes)


def _share_of(choice: XmlElement, response: XmlElement) -> Fraction:
    word = choice.attributes.get("correct", "").strip().lower()
    if word.startswith("part") and "points" in _credit_of(response):
        worth = read_decimal(choice.attributes.get("point_value", ""))
        return min(Fraction(1), abs(Fraction(worth))) if worth is not None else _PARTIAL
    return Fraction(int(word == "true"))


def _option(choice: XmlElement, share: Fraction) -> ForeseenAnswer:
    return ForeseenAnswer(words_of(choice), share, _hint_of(choice, "choicehint"), choice.place)


def _check_options(options: Sequence[XmlElement]) -> None:
    if len(options) > _MOST_OPTIONS:
        raise UnfitError(f"it has over {_MOST_OPTIONS} options", "drop some")


def boxes_field(question: ForeignQuestion, response: XmlElement, *, is_own: bool) -> ForeignQuestion:
    """Return a choice of several options."""
    choices = [e for e in response.inside() if e.tag == "choice"]
    _check_options(choices)
    right = [number for number, choice in enumerate(choices) if _is_true(choice)]
    answers = [
        _option(choice, Fraction(1, len(right)) if number in right else Fraction(0))
        for number, choice in enumerate(choices)
    ]
    notes = []
    if any(_hint_of(choice, "choicehint", "false") for choice in choices):
        notes.append(ImportNote("feedback for options that aren't picked isn't kept", question.place))
    if any(e.tag == "compoundhint" for e in response.inside()):
        notes.append(ImportNote("hints for several picks together aren't kept", question.place))
    policy = {"": "exact", "edc": "each-answer"}.get(_credit_of(response), "")
    if not policy:
        names = [str(number) for number in range(len(choices))]
        key = [str(number) for number in right]
        policy, off = nearest_rule(names, key, lambda picks: _halves(len(names), set(key), set(picks)))
        # our own export gives halves for the rule that most items have
        policy = "net-correct" if is_own else policy
        if off:
            message = f"its rule for several picks isn't kept: '{policy}' is nearest"
            notes.append(ImportNote(message, question.place))
    return replace(question, answers=tuple(answers), single=False, policy=policy, shuffle=is_own).noting(
        *notes
    )


def _halves(options: int, right: set[str], picked: set[str]) -> float:
    # as the problem block counts: wrong picks and right ones that are missing
    errors = len(right ^ picked)
    if errors == 0:
        return 1.0
    if errors == 1 and options > 2:
        return 0.5
    return 0.25 if errors == 2 and options > 4 else 0.0


def dropdown_options(field: XmlElement) -> list[tuple[MarkedText, bool, MarkedText]]:
    """Return the options of a dropdown: text, whether it is right, and its feedback."""
    options = list(field.every("option"))
    _check_options(options)
    if options:
        return [(words_of(option), _is_true(option), _hint_of(option, "optionhint")) for option in options]
    # the form of older courses: a tuple of Python's, and the right one beside it
    texts = [a or b for a, b in _OLD_OPTION.findall(field.attributes.get("options", "")[:4000])]
    right = field.attributes.get("correct", "").strip()
    return [(MarkedText(text, TextForm.PLAIN), text == right, NOTHING) for text in texts[:_MOST_OPTIONS]]


def dropdown_field(question: ForeignQuestion, field: XmlElement) -> ForeignQuestion:
    """Return a dropdown as a choice of one option."""
    answers = [
        ForeseenAnswer(text, Fraction(int(is_right)), feedback, field.place)
        for text, is_right, feedback in dropdown_options(field)
    ]
    return replace(question, answers=tuple(answers), shuffle=False)


def number_field(
    question: ForeignQuestion, response: XmlElement, *, is_whole: bool = False
) -> ForeignQuestion:
    """Return a number, with the wrong ones that have hints.

    Parameters
    ----------
    question : ForeignQuestion
    response : XmlElement
    is_whole : bool
        Whether the text asks for a whole number.

    Raises
    ------
    UnfitError
        Its answer is no number and no sum that is read here.
    """
    right = _accepted(response)
    praise = _hint_of(response, "correcthint")
    answers = [_number_answer(right, praise, question)]
    notes = []
    for other in response.every("additional_answer"):
        value = _value(other.attributes.get("answer", "") or other.text)
        answers.append(_number_answer(AcceptedNumber(value), _hint_of(other, "correcthint"), question))
    if _credit_of(response):
        message = "credit for numbers that are nearly right, or listed, isn't kept"
        notes.append(ImportNote(message, question.place))
    if response.first("hintgroup") is not None:
        notes.append(ImportNote("hints for wrong numbers aren't kept", question.place))
    field = next((e for e in response.inside() if e.tag in ("formulaequationinput", "textline")), None)
    unit = field.attributes.get("trailing_text", "") if field is not None else ""
    return replace(
        question, kind=QuestionKind.NUMBER, answers=tuple(answers), unit=unit, whole=is_whole
    ).noting(*notes)


def _number_answer(number: AcceptedNumber, feedback: MarkedText, question: ForeignQuestion) -> ForeseenAnswer:
    digits = MarkedText(f"{number.value:f}", TextForm.PLAIN)
    return ForeseenAnswer(digits, Fraction(1), feedback, question.place, number)


def _accepted(response: XmlElement) -> AcceptedNumber:
    answer = response.attributes.get("answer", "").strip()
    # whether an end belongs to the range isn't kept: nobody types exactly it
    if (ends := _RANGE.fullmatch(answer)) is not None:
        low, high = _value(ends[1]), _value(ends[2])
        return AcceptedNumber((low + high) / 2, abs(high - low) / 2)
    value = _value(answer)
    stated = [
        e for e in response.inside() if e.tag == "responseparam" and e.attributes.get("type") == "tolerance"
    ]
    if not stated:
        return AcceptedNumber(value, abs(value) * _USUAL_TOLERANCE)
    words = stated[0].attributes.get("default", "0").strip()
    reach = abs(_value(words.removesuffix("%")))
    return AcceptedNumber(value, abs(value) * reach / 100 if words.endswith("%") else reach)


def _value(words: str) -> Decimal:
    text = words.strip()
    number = read_decimal(text)
    if number is not None:
        return number
    quoted = clean_line(text, 60)
    if "$" in text:
        raise UnfitError(f"its answer is computed by a program ({quoted})", _AS_FAMILY)
    if not _SUM.fullmatch(text):
        raise UnfitError(f"its answer, '{quoted}', isn't a number that is read here", _AS_FAMILY)
    # a caret is a power there; what else both sides read alike has passed the pattern above
    try:
        value = evaluate_number(text.replace("^", "**"), {})
    except ExpressionError:
        raise UnfitError(f"its answer, '{quoted}', can't be computed", _AS_FAMILY) from None
    # a double has no more digits than these
    return read_decimal(f"{value:.15g}") or Decimal(0)


def words_field(question: ForeignQuestion, response: XmlElement, *, is_own: bool) -> ForeignQuestion:
    """Return a text that is typed, with the wrong ones that have hints.

    Raises
    ------
    UnfitError
        Its answers are patterns.
    """
    types = response.attributes.get("type", "").lower().split()
    if "regexp" in types:
        raise UnfitError("its answers are patterns", "list the words that are right")
    first = response.attributes.get("answer", "")
    if "$" in first and re.search(r"\$[A-Za-z_{]", first):
        raise UnfitError("its answer is computed by a program", "write the words that are right")
    praise = {text.strip(): _hint_of(response, "correcthint") for text in re.split("_or_", first)}
    for other in response.every("additional_answer"):
        text = (other.attributes.get("answer", "") or other.text).strip()
        praise.setdefault(text, _hint_of(other, "correcthint"))
    wrong = dict(_foreseen(response))
    is_cased = "ci" not in types
    accepted = without_spellings(list(praise), list(wrong), is_cased, is_own=is_own)
    answers = [_text(text, Fraction(1), praise[text], question) for text in accepted]
    answers += [_text(text, Fraction(0), feedback, question) for text, feedback in wrong.items()]
    notes = []
    if response.first("regexphint") is not None:
        notes.append(ImportNote("hints for patterns aren't kept", question.place))
    return replace(question, kind=QuestionKind.TOKEN, answers=tuple(answers), case_sensitive=is_cased).noting(
        *notes
    )


def _foreseen(response: XmlElement) -> Iterator[tuple[str, MarkedText]]:
    """Yield wrong texts with their feedback, in the new form and in that of older courses."""
    for hint in response.every("stringequalhint"):
        yield hint.attributes.get("answer", "").strip(), words_of(hint)
    group = response.first("hintgroup")
    if group is None:
        return
    parts = {part.attributes.get("on", ""): part for part in group.every("hintpart")}
    for hint in group.every("stringhint"):
        part = parts.get(hint.attributes.get("name", ""))
        if part is not None and "regexp" not in hint.attributes.get("type", ""):
            yield hint.attributes.get("answer", "").strip(), html_text(plain_words(part))


def _text(text: str, share: Fraction, feedback: MarkedText, question: ForeignQuestion) -> ForeseenAnswer:
    # a star stands for any answer elsewhere, and is only itself here
    plain = MarkedText(text.replace("*", "\\*"), TextForm.PLAIN)
    return ForeseenAnswer(plain, share, feedback, question.place)
