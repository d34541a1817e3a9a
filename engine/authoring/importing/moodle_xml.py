"""The questions of a Moodle XML file, type by type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal

from engine.exchange.moodle_xml.fields import Fields
from engine.exchange.moodle_xml.others import skipped_type
from engine.exchange.moodle_xml.tree import Element, read_tree
from engine.exchange.numerals import read_decimal
from engine.exchange.question import (
    Answer,
    Contents,
    Form,
    Kind,
    Note,
    Number,
    Pair,
    Question,
    Skip,
)
from engine.exchange.reading import Faults, Source
from engine.exchange.soundness import check_question
from engine.spec.text_file import shown

__all__ = ["read_moodle"]


def read_moodle(source: Source) -> Contents:
    """Return the questions of a file, what has no counterpart here, and every fault with its place."""
    faults = Faults(source)
    root = read_tree(source, faults)
    bank = _Bank(faults)
    if root is not None and root.tag != "quiz":
        message = f"a Moodle XML file begins with <quiz>, not with <{shown(root.tag, 30)}>"
        faults.add(root.place, message)
    elif root is not None:
        for element in root.children:
            bank.read(element)
    return Contents(tuple(bank.questions), tuple(bank.skipped), faults.in_order())


@dataclass
class _Bank:
    faults: Faults
    questions: list[Question] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    category: str = ""

    def read(self, element: Element) -> None:
        """Read a child of ``<quiz>``."""
        if element.tag != "question":
            self.faults.add(element.place, f"<quiz> holds <question>, not <{shown(element.tag, 30)}>")
            return
        kind = element.attributes.get("type", "").strip().lower()
        fields = Fields(self.faults)
        if kind == "category":
            self.category = fields.words(element, "category")
            return
        name = fields.words(element, "name")
        if not kind:
            self.faults.add(element.place, 'this question has no type, such as type="multichoice"')
            return
        skip = skipped_type(kind, name, element, fields)
        if skip is not None:
            self.skipped.append(skip)
            return
        before = len(self.faults)
        question = _READERS[kind](_common(kind, name, self.category, element, fields), element, fields)
        check_question(question, self.faults)
        if len(self.faults) == before:
            self.questions.append(question)


def _common(kind: str, name: str, category: str, element: Element, fields: Fields) -> Question:
    """Return what all types share; the kind is set by the type's own reader."""
    if element.first("questiontext") is None:
        fields.faults.add(element.place, "this question has no <questiontext>")
    tags = element.first("tags")
    return Question(
        Kind.CHOICE,
        name,
        kind,
        element.place,
        fields.markup(element, "questiontext", Form.AUTO),
        points=fields.number(element, "defaultgrade", Decimal(1)),
        category=category,
        tags=tuple(fields.own_markup(tag).text for tag in tags.every("tag")) if tags is not None else (),
        general=fields.markup(element, "generalfeedback"),
        hints=tuple(fields.own_markup(hint, Form.HTML) for hint in element.every("hint")),
    )


def _choice(question: Question, element: Element, fields: Fields) -> Question:
    question = _judged(question, element, fields)
    return replace(
        question,
        answers=fields.answers(element),
        single=fields.switch(element, "single", True),
        shuffle=fields.switch(element, "shuffleanswers", True),
    )


def _judged(question: Question, element: Element, fields: Fields) -> Question:
    """Return the question with its feedback for right, partly right and wrong answers."""
    partly = fields.markup(element, "partiallycorrectfeedback", Form.HTML)
    if partly and "partially correct" not in partly.text:
        question = question.noting(Note("its feedback for partly right answers isn't kept"))
    return replace(
        question,
        right=fields.markup(element, "correctfeedback", Form.HTML),
        wrong=fields.markup(element, "incorrectfeedback", Form.HTML),
    )


def _truefalse(question: Question, element: Element, fields: Fields) -> Question:
    answers = []
    for answer in fields.answers(element, Form.PLAIN):
        word = answer.text.text.strip().lower()
        if word not in ("true", "false"):
            fields.faults.add(answer.place, f"an answer is true or false, not '{shown(word, 30)}'")
        answers.append(replace(answer, text=replace(answer.text, text=word.capitalize(), form=Form.PLAIN)))
    if sorted(answer.text.text for answer in answers) == ["True", "True"]:
        fields.faults.add(element.place, "both answers are 'true'")
    return replace(question, answers=tuple(answers), shuffle=False)


def _shortanswer(question: Question, element: Element, fields: Fields) -> Question:
    return replace(
        question,
        kind=Kind.TOKEN,
        answers=fields.answers(element, Form.PLAIN),
        case_sensitive=fields.switch(element, "usecase", False),
    )


def _numerical(question: Question, element: Element, fields: Fields) -> Question:
    answers = tuple(_number(child, fields) for child in element.every("answer"))
    question = replace(question, kind=Kind.NUMBER, answers=answers)
    return _with_unit(question, element, fields)


def _number(element: Element, fields: Fields) -> Answer:
    answer = fields.answer(element, Form.PLAIN)
    word = answer.text.text.strip()
    if word == "*":
        return answer
    value = read_decimal(word)
    tolerance = fields.number(element, "tolerance", Decimal(0))
    if value is None:
        message = f"an answer is a number such as 0.25 or 5e-1, not '{shown(word, 30)}'"
        fields.faults.add(element.place, message)
        return answer
    return replace(answer, number=Number(value, tolerance))


def _with_unit(question: Question, element: Element, fields: Fields) -> Question:
    """Return the question with the unit of its key; others would need numbers to be converted."""
    units = element.first("units")
    named = [
        (fields.words(unit, "unit_name"), fields.number(unit, "multiplier", Decimal(1)))
        for unit in (units.every("unit") if units is not None else ())
    ]
    own = next((name for name, factor in named if factor == 1 and name), "")
    others = [name for name, factor in named if name and name != own]
    if others:
        what = ", ".join(shown(name, 20) for name in others[:5])
        question = question.noting(Note(f"answers in other units aren't read here: {what}"))
    if len(own) > 200:
        fields.faults.add(element.place, "a unit has over 200 characters")
        return question
    return replace(question, unit=own)


def _matching(question: Question, element: Element, fields: Fields) -> Question:
    pairs = []
    for child in element.every("subquestion"):
        if child.first("answer") is None:
            fields.faults.add(child.place, "this <subquestion> has no <answer>")
            continue
        target = fields.markup(child, "answer", Form.PLAIN)
        pairs.append(Pair(fields.own_markup(child, Form.HTML), replace(target, form=Form.PLAIN), child.place))
    return replace(_judged(question, element, fields), kind=Kind.MATCHING, pairs=tuple(pairs))


_READERS: dict[str, Callable[[Question, Element, Fields], Question]] = {
    "multichoice": _choice,
    "truefalse": _truefalse,
    "shortanswer": _shortanswer,
    "numerical": _numerical,
    "matching": _matching,
}
