"""Reads Moodle XML, the file to which Moodle exports a question bank.

The types that have a counterpart here become neutral questions; of every other type it is known why it has
none, and what its author can do instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from engine.authoring.importing.cloze_gaps import read_gaps
from engine.authoring.importing.foreign_question import (
    NOTHING,
    AcceptedNumber,
    FileFaults,
    ForeignQuestion,
    ForeseenAnswer,
    ImportNote,
    MarkedText,
    MatchingPair,
    QuestionFile,
    QuestionKind,
    SkippedQuestion,
    SourceText,
    TextForm,
    check_question,
    read_decimal,
    read_share,
)
from engine.authoring.importing.imported_wholes import NO_RUBRIC
from engine.authoring.importing.xml_tree import XmlElement, read_tree
from engine.items.rubric_specs import MOST_WORDS
from engine.text.words import clean_line, one_line

_FORMS = {
    "html": TextForm.HTML, "moodle_auto_format": TextForm.AUTO, "plain_text": TextForm.PLAIN,
    "plain": TextForm.PLAIN, "markdown": TextForm.MARKDOWN, "1": TextForm.HTML, "0": TextForm.AUTO,
    "2": TextForm.PLAIN, "4": TextForm.MARKDOWN,
}  # fmt: skip


class QuestionFields:
    """Reads texts, numbers, switches and answers of one question; faults are noted at their place."""

    def __init__(self, faults: FileFaults) -> None:
        self.faults = faults

    def words(self, parent: XmlElement, tag: str) -> str:
        """Return the text of ``<tag>`` or of ``<tag><text>``, blanks trimmed; empty if there is none."""
        element = parent.first(tag)
        return self._text(element).strip() if element is not None else ""

    def markup(self, parent: XmlElement, tag: str, otherwise: TextForm = TextForm.AUTO) -> MarkedText:
        """Return the text of ``<tag format="…"><text>``; empty if there is none."""
        element = parent.first(tag)
        return self.own_markup(element, otherwise) if element is not None else NOTHING

    def own_markup(self, element: XmlElement, otherwise: TextForm = TextForm.AUTO) -> MarkedText:
        """Return the text that an element with ``format`` holds itself."""
        form_name = element.attributes.get("format", "").strip().lower()
        form = _FORMS.get(form_name, otherwise)
        if form_name and form_name not in _FORMS:
            self.faults.add(
                element.place, f"there is no text format '{one_line(form_name, 30)}' in Moodle XML"
            )
        return MarkedText(self._text(element), form)

    def _text(self, element: XmlElement) -> str:
        inner = element.first("text")
        holder = element if inner is None else inner
        for child in holder.children:
            if holder is inner or child.tag not in ("text", "file", "feedback", "answer"):
                message = f"a text can't hold the element <{one_line(child.tag, 30)}>"
                self.faults.add(child.place, f"{message}; put HTML into <![CDATA[ … ]]>")
                return ""
        return holder.text

    def switch(self, parent: XmlElement, tag: str, otherwise: bool) -> bool:
        """Return a value that is true or false."""
        element = parent.first(tag)
        word = self.words(parent, tag).lower()
        if element is None or not word:
            return otherwise
        if word not in ("true", "false", "1", "0"):
            self.faults.add(element.place, f"<{tag}> is true or false, not '{one_line(word, 30)}'")
        return word in ("true", "1")

    def number(self, parent: XmlElement, tag: str, otherwise: Decimal) -> Decimal:
        """Return a number that isn't negative."""
        element, word = parent.first(tag), self.words(parent, tag)
        if element is None or not word:
            return otherwise
        value = read_decimal(word)
        if value is None or value < 0:
            message = f"<{tag}> is a number from 0 on, such as 1 or 0.5, not '{one_line(word, 30)}'"
            self.faults.add(element.place, message)
            return otherwise
        return value

    def answers(
        self, question: XmlElement, otherwise: TextForm = TextForm.HTML
    ) -> tuple[ForeseenAnswer, ...]:
        """Return the answers of a question, each with its share of the points and its feedback."""
        return tuple(self.answer(element, otherwise) for element in question.every("answer"))

    def answer(self, element: XmlElement, otherwise: TextForm = TextForm.HTML) -> ForeseenAnswer:
        """Return one answer."""
        text = self.own_markup(element, otherwise)
        return ForeseenAnswer(
            text, self._share(element), self.markup(element, "feedback", TextForm.HTML), element.place
        )

    def _share(self, element: XmlElement) -> Fraction:
        word = element.attributes.get("fraction", self.words(element, "fraction"))
        share = read_share(word)
        if share is None:
            actual = f"not '{one_line(word, 30)}'" if word else "and this answer states none"
            message = f"'fraction' is a percentage from -100 to 100, such as 100 or 33.33333, {actual}"
            self.faults.add(element.place, message)
            return Fraction(0)
        return share


_AS_STEPS = "write one item with 'steps', a step for each field: grade new item ID --type steps"
_AS_MATCHING = "write it as a matching item: grade new item ID --type matching"
_MARKABLE = "ask for something that can be marked by itself, such as a choice or a number"

_OTHERS: dict[str, tuple[str, str]] = {
    "description": (
        "it only shows a text and asks nothing",
        "put the text into the stem of the items that need it",
    ),
    "randomsamatch": ("it draws its pairs from other questions", _AS_MATCHING),
    "random": ("it only stands for another question of its category", "draw items in the quiz's blueprint"),
    "gapselect": ("words are picked for gaps in a text", _AS_STEPS),
    "ddwtos": ("words are dragged into gaps of a text", _AS_STEPS),
    "ddimageortext": ("things are dragged onto a picture", _AS_MATCHING),
    "ddmarker": ("marks are dragged onto a picture", _MARKABLE),
    "match": ("Moodle XML has no such type; it is called 'matching'", "correct the type"),
}
_CALCULATED = ("calculated", "calculatedsimple", "calculatedmulti")
_WILD_CARD = re.compile(r"\{([A-Za-z][A-Za-z0-9_]{0,31})\}")
_MAX_NAMED = 6  # parameters in a hint: more don't fit a line of the report


def skipped_type(kind: str, name: str, element: XmlElement, fields: QuestionFields) -> SkippedQuestion | None:
    """Return why a question is skipped, None if its type is read."""
    if fields.words(element, "hidden") == "1":
        return SkippedQuestion(
            name,
            kind,
            element.place,
            "it is hidden in Moodle, as deleted questions are",
            "show it there first",
        )
    if kind == "essay" and not fields.markup(element, "graderinfo"):
        return SkippedQuestion(name, kind, element.place, *NO_RUBRIC)
    if kind in _READERS:
        return None
    if kind in _CALCULATED:
        reason = "its numbers are drawn by Moodle, and its key is a formula of Moodle's"
        return SkippedQuestion(name, kind, element.place, reason, _as_family(element, fields))
    if kind in _OTHERS:
        return SkippedQuestion(name, kind, element.place, *_OTHERS[kind])
    return SkippedQuestion(
        name, kind, element.place, f"the type '{clean_line(kind, 40)}' isn't known here", _MARKABLE
    )


def _as_family(element: XmlElement, fields: QuestionFields) -> str:
    """Return how a calculated question is written here: a family whose key is an expression."""
    parameters = [_parameter(definition, fields) for definition in _definitions(element)]
    listing = ", ".join(parameters[:_MAX_NAMED])
    answer = element.first("answer")
    formula = fields.own_markup(answer).text if answer is not None else ""
    key = clean_line(_WILD_CARD.sub(r"\1", formula), 120)
    step = "write it as a family, whose key is recomputed: grade new item ID --type number"
    if listing:
        step += f"; parameters: {{{listing}}}"
    return f'{step}; key: "{key}" in our functions' if key else step


def _definitions(element: XmlElement) -> list[XmlElement]:
    holder = element.first("dataset_definitions")
    return list(holder.every("dataset_definition")) if holder is not None else []


def _parameter(definition: XmlElement, fields: QuestionFields) -> str:
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


def read_moodle(source: SourceText) -> QuestionFile:
    """Return the questions of a file, what has no counterpart here, and every fault with its place."""
    faults = FileFaults(source)
    root = read_tree(source, faults)
    bank = _Bank(faults)
    if root is not None and root.tag != "quiz":
        message = f"a Moodle XML file begins with <quiz>, not with <{one_line(root.tag, 30)}>"
        faults.add(root.place, message)
    elif root is not None:
        for element in root.children:
            bank.read(element)
    return QuestionFile(tuple(bank.questions), tuple(bank.skipped), faults.in_order())


@dataclass
class _Bank:
    faults: FileFaults
    questions: list[ForeignQuestion] = field(default_factory=list)
    skipped: list[SkippedQuestion] = field(default_factory=list)
    category: str = ""

    def read(self, element: XmlElement) -> None:
        """Read a child of ``<quiz>``."""
        if element.tag != "question":
            self.faults.add(element.place, f"<quiz> holds <question>, not <{one_line(element.tag, 30)}>")
            return
        kind = element.attributes.get("type", "").strip().lower()
        fields = QuestionFields(self.faults)
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


def _common(
    kind: str, name: str, category: str, element: XmlElement, fields: QuestionFields
) -> ForeignQuestion:
    """Return what all types share; the kind is set by the type's own reader."""
    if element.first("questiontext") is None:
        fields.faults.add(element.place, "this question has no <questiontext>")
    tags = element.first("tags")
    return ForeignQuestion(
        QuestionKind.CHOICE,
        name,
        kind,
        element.place,
        fields.markup(element, "questiontext", TextForm.AUTO),
        points=fields.number(element, "defaultgrade", Decimal(1)),
        category=category,
        tags=tuple(fields.own_markup(tag).text for tag in tags.every("tag")) if tags is not None else (),
        general=fields.markup(element, "generalfeedback"),
        hints=tuple(fields.own_markup(hint, TextForm.HTML) for hint in element.every("hint")),
    )


def _choice(question: ForeignQuestion, element: XmlElement, fields: QuestionFields) -> ForeignQuestion:
    question = _with_feedback(question, element, fields)
    return replace(
        question,
        answers=fields.answers(element),
        single=fields.switch(element, "single", True),
        shuffle=fields.switch(element, "shuffleanswers", True),
    )


def _with_feedback(question: ForeignQuestion, element: XmlElement, fields: QuestionFields) -> ForeignQuestion:
    partly = fields.markup(element, "partiallycorrectfeedback", TextForm.HTML)
    wrong = fields.markup(element, "incorrectfeedback", TextForm.HTML)
    # Moodle's own sentence isn't a loss, nor what is said of wrong answers as well
    if partly and partly != wrong and "partially correct" not in partly.text:
        question = question.noting(ImportNote("its feedback for partly right answers isn't kept"))
    return replace(
        question,
        right=fields.markup(element, "correctfeedback", TextForm.HTML),
        wrong=wrong,
    )


def _truefalse(question: ForeignQuestion, element: XmlElement, fields: QuestionFields) -> ForeignQuestion:
    answers = []
    for answer in fields.answers(element, TextForm.PLAIN):
        word = answer.text.text.strip().lower()
        if word not in ("true", "false"):
            fields.faults.add(answer.place, f"an answer is true or false, not '{one_line(word, 30)}'")
        answers.append(
            replace(answer, text=replace(answer.text, text=word.capitalize(), form=TextForm.PLAIN))
        )
    if sorted(answer.text.text for answer in answers) == ["True", "True"]:
        fields.faults.add(element.place, "both answers are 'true'")
    return replace(question, answers=tuple(answers), shuffle=False)


def _shortanswer(question: ForeignQuestion, element: XmlElement, fields: QuestionFields) -> ForeignQuestion:
    return replace(
        question,
        kind=QuestionKind.TOKEN,
        answers=fields.answers(element, TextForm.PLAIN),
        case_sensitive=fields.switch(element, "usecase", False),
    )


def _numerical(question: ForeignQuestion, element: XmlElement, fields: QuestionFields) -> ForeignQuestion:
    answers = tuple(_number(child, fields) for child in element.every("answer"))
    question = replace(question, kind=QuestionKind.NUMBER, answers=answers)
    return _with_unit(question, element, fields)


def _number(element: XmlElement, fields: QuestionFields) -> ForeseenAnswer:
    answer = fields.answer(element, TextForm.PLAIN)
    word = answer.text.text.strip()
    if word == "*":
        return answer
    value = read_decimal(word)
    tolerance = fields.number(element, "tolerance", Decimal(0))
    if value is None:
        message = f"an answer is a number such as 0.25 or 5e-1, not '{one_line(word, 30)}'"
        fields.faults.add(element.place, message)
        return answer
    return replace(answer, number=AcceptedNumber(value, tolerance))


def _with_unit(question: ForeignQuestion, element: XmlElement, fields: QuestionFields) -> ForeignQuestion:
    """Return the question with the unit of its key; others would need numbers to be converted."""
    units = element.first("units")
    factors = [
        (fields.words(unit, "unit_name"), fields.number(unit, "multiplier", Decimal(1)))
        for unit in (units.every("unit") if units is not None else ())
    ]
    key_unit = next((name for name, factor in factors if factor == 1 and name), "")
    others = [name for name, factor in factors if name and name != key_unit]
    if others:
        names = ", ".join(one_line(name, 20) for name in others[:5])
        question = question.noting(ImportNote(f"answers in other units aren't read here: {names}"))
    if len(key_unit) > 200:
        fields.faults.add(element.place, "a unit has over 200 characters")
        return question
    return replace(question, unit=key_unit)


def _matching(question: ForeignQuestion, element: XmlElement, fields: QuestionFields) -> ForeignQuestion:
    pairs = []
    for child in element.every("subquestion"):
        if child.first("answer") is None:
            fields.faults.add(child.place, "this <subquestion> has no <answer>")
            continue
        target = fields.markup(child, "answer", TextForm.PLAIN)
        pairs.append(
            MatchingPair(
                fields.own_markup(child, TextForm.HTML), replace(target, form=TextForm.PLAIN), child.place
            )
        )
    return replace(_with_feedback(question, element, fields), kind=QuestionKind.MATCHING, pairs=tuple(pairs))


# how an order earns points there, and the nearest rule of ours
_ORDER_POLICIES = {"ALL_OR_NOTHING": "exact", "ABSOLUTE_POSITION": "positions"}
_ORDER_NAMES = {"ABS": "ABSOLUTE_POSITION", "ABSOLUTE": "ABSOLUTE_POSITION"}


def _ordering(question: ForeignQuestion, element: XmlElement, fields: QuestionFields) -> ForeignQuestion:
    question = _with_feedback(question, element, fields)
    rule = fields.words(element, "gradingtype").upper()
    rule = _ORDER_NAMES.get(rule, rule)
    cards = tuple(
        ForeseenAnswer(fields.own_markup(card, TextForm.HTML), Fraction(1), place=card.place)
        for card in element.every("answer")
    )
    if len(cards) < 2:
        fields.faults.add(element.place, "an ordering question needs two cards at least")
    if rule not in _ORDER_POLICIES:
        reason = f"the rule {one_line(rule, 40) or 'RELATIVE_NEXT_EXCLUDE_LAST'} isn't kept"
        question = question.noting(
            ImportNote(f"{reason}: pairs of cards in the wrong order cost points here")
        )
    if fields.words(element, "selecttype").upper() not in ("", "ALL", "EXACT"):
        question = question.noting(ImportNote("all its cards are shown here, not some of them"))
    policy = _ORDER_POLICIES.get(rule, "pairs")
    return replace(question, kind=QuestionKind.ORDERING, answers=cards, policy=policy)


def _essay(question: ForeignQuestion, element: XmlElement, fields: QuestionFields) -> ForeignQuestion:
    limits = [int(fields.number(element, tag, Decimal(0))) for tag in ("minwordlimit", "maxwordlimit")]
    least, most = (limit if 0 < limit <= MOST_WORDS else None for limit in limits)
    if least is not None and most is not None and least > most:
        least = None
    grader = fields.markup(element, "graderinfo")
    return replace(question, kind=QuestionKind.ESSAY, grader=grader, words=(least, most))


def _cloze(question: ForeignQuestion, element: XmlElement, fields: QuestionFields) -> ForeignQuestion:
    holder = element.first("questiontext") or element
    gap_text = read_gaps(question.text.text, holder.place, fields.faults)
    text = replace(question.text, text=gap_text.text)
    question = replace(
        question, kind=QuestionKind.GAPS, text=text, gaps=gap_text.gaps, gap_mark=gap_text.mark
    )
    # Moodle gives such a question the sum of its fields' weights; its own exports state it
    if element.first("defaultgrade") is None and gap_text.gaps:
        question = replace(question, points=sum((gap.points for gap in gap_text.gaps), Decimal(0)))
    return question


_READERS: dict[str, Callable[[ForeignQuestion, XmlElement, QuestionFields], ForeignQuestion]] = {
    "multichoice": _choice, "truefalse": _truefalse, "shortanswer": _shortanswer, "numerical": _numerical,
    "matching": _matching, "ordering": _ordering, "essay": _essay, "cloze": _cloze, "multianswer": _cloze,
}  # fmt: skip
