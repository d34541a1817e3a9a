"""A text with several fields as an item: a vector, a matrix, or steps.

Where a text with gaps comes from, its author saw one page; an item here asks for one thing at a time. Numbers
that stand in a row or in a table by themselves are a vector or a matrix. Everything else becomes steps, each
with the words before its field: an entry of a list, a paragraph, or a sentence with a gap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from engine.authoring.importing.foreign_question import ForeignQuestion, QuestionKind
from engine.authoring.importing.imported_answers import (
    MAX_OPTIONS,
    choice_answer,
    matching_answer,
    token_answer,
)
from engine.authoring.importing.imported_numbers import number_answer, numbers_answer
from engine.authoring.importing.imported_wholes import ordering_answer, rubric_answer
from engine.authoring.importing.question_texts import QuestionTexts, UnfitError
from engine.authoring.importing.text_blocks import (
    Block,
    Inline,
    ListBlock,
    ParagraphBlock,
    QuoteBlock,
    TableBlock,
    TextRun,
    lines_of,
)
from engine.authoring.importing.to_markdown import ConvertedText
from engine.text.words import count_noun

_MOST_STEPS = 20  # as in the schema
_WHOLES: dict[QuestionKind, Callable[[ForeignQuestion, QuestionTexts], dict[str, Any]]] = {
    QuestionKind.MATCHING: matching_answer,
    QuestionKind.ORDERING: ordering_answer,
    QuestionKind.ESSAY: rubric_answer,
}
_GAP = "_____"
_OTHER = "…"
_LONGEST_UNIT = 30  # a sentence behind a field is no unit
_DEEPEST = 5  # lists within lists: what lies deeper is read line by line
# what may stand around the fields of a vector
_BRACKETS = re.compile(r"[\s,;()\[\]{}|]*")


@dataclass(frozen=True, slots=True)
class GapItem:
    """What an item with fields in its text holds beside its title.

    Parameters
    ----------
    stem : ConvertedText
    sections : dict
        ``answer`` or ``steps``.
    mistakes : list of dict
        Known mistakes of the only answer; steps hold their own.
    """

    stem: ConvertedText
    sections: dict[str, Any]
    mistakes: list[dict[str, Any]]


@dataclass
class _AskedFields:
    """Fields that are answered together, and what is words_of_feedback before them."""

    rows: list[list[int]]
    prompt: list[Block]
    is_in_list: bool = False
    unit: str = ""


@dataclass
class _GapWalk:
    """Goes through the blocks of a text; `pending` is what no field has followed yet."""

    mark: re.Pattern[str]
    is_number: Sequence[bool]
    stem: list[Block] = field(default_factory=list)
    groups: list[_AskedFields] = field(default_factory=list)
    pending: list[Block] = field(default_factory=list)

    def walk(self, blocks: Sequence[Block], depth: int = 0, *, in_list: bool = False) -> None:
        """Collect the fields of blocks."""
        for block in blocks:
            if not self._gaps(block):
                self.pending.append(block)
            elif isinstance(block, ListBlock) and depth < _DEEPEST:
                self._walk_list(block, depth)
            elif isinstance(block, QuoteBlock) and depth < _DEEPEST:
                self.walk(block.blocks, depth + 1)
            elif (rows := self._rows(block)) is not None:
                self._ask(_AskedFields(rows, self.pending, in_list))
            elif (unit := self._unit(block)) and self.pending:
                self._ask(_AskedFields([self._gaps(block)], self.pending, in_list, unit))
            else:
                self._walk_sentence(block, in_list=in_list)

    def _walk_list(self, block: ListBlock, depth: int) -> None:
        # What stands before a list of fields belongs to all of them.
        if not self.groups:
            self.stem, self.pending = [*self.stem, *self.pending], []
        for entry in block.entries:
            self.walk(entry, depth + 1, in_list=True)

    def _walk_sentence(self, block: Block, *, in_list: bool) -> None:
        for gap in self._gaps(block):
            words = [self._with_gap(line, gap) for line in lines_of([block])]
            sentence = [ParagraphBlock(tuple(line)) for line in words]
            self._ask(_AskedFields([[gap]], [*self.pending, *sentence], in_list))

    def _ask(self, group: _AskedFields) -> None:
        self.groups.append(group)
        self.pending = []

    def _gaps(self, block: Block) -> list[int]:
        words = "\n".join("".join(map(_characters, line)) for line in lines_of([block]))
        return [int(match[1]) for match in self.mark.finditer(words)]

    def _rows(self, block: Block) -> list[list[int]] | None:
        """Return the fields of a table or a line that holds nothing else."""
        if isinstance(block, TableBlock):
            lines = [["".join(map(_characters, cell)) for cell in row] for row in block.rows]
        elif isinstance(block, ParagraphBlock):
            lines = [["".join(map(_characters, line))] for line in lines_of([block])]
        else:
            return None
        rows = [[int(m[1]) for cell in line for m in self.mark.finditer(cell)] for line in lines]
        rest = "".join(self.mark.sub("", cell) for line in lines for cell in line)
        # rows without fields are headings, whose words keep the table from being a matrix
        rows = [row for row in rows if row]
        is_even = len({len(row) for row in rows}) == 1
        count = sum(map(len, rows))
        is_alone = _BRACKETS.fullmatch(rest) is not None and is_even
        numbers = all(self.is_number[gap] for row in rows for gap in row)
        return rows if is_alone and (count == 1 or numbers) else None

    def _unit(self, block: Block) -> str:
        """Return the words behind the only field of a paragraph that begins with it, such as ``bytes``."""
        if not isinstance(block, ParagraphBlock) or len(block.content) != 1:
            return ""
        words = _characters(block.content[0]).strip()
        first = self.mark.match(words)
        if first is None or not self.is_number[int(first[1])] or self.mark.search(words, first.end()):
            return ""
        unit = words[first.end() :].strip()
        return unit if len(unit) <= _LONGEST_UNIT else ""

    def _with_gap(self, line: Sequence[Inline], gap: int) -> Iterator[Inline]:
        for run in line:
            if isinstance(run, TextRun):
                yield replace(
                    run, text=self.mark.sub(lambda m: _GAP if int(m[1]) == gap else _OTHER, run.text)
                )
            else:
                yield run


def gap_item(question: ForeignQuestion, texts: QuestionTexts) -> GapItem:
    """Return the parts of an item that depend on the fields of a text.

    Raises
    ------
    UnfitError
        It has no field, or more than an item can have steps.
    """
    mark = re.compile(f"{re.escape(question.gap_mark)}([0-9]+){re.escape(question.gap_mark)}")
    walk = _GapWalk(mark, [gap.kind is QuestionKind.NUMBER for gap in question.gaps])
    walk.walk(texts.blocks(question.text, "the text", place=question.place))
    if not walk.groups:
        raise UnfitError("its text has no field", "put a field such as {1:NUMERICAL:=0.5:0.01} into it")
    if (decisions := _decisions(walk, question, texts)) is not None:
        stem = texts.written([*walk.stem, *walk.pending], "the text")
        if stem.prose:
            return GapItem(stem, {"answer": decisions}, [])
    if len(walk.groups) > _MOST_STEPS:
        raise UnfitError(
            f"it has {count_noun(len(walk.groups), 'field')}; an item has at most {_MOST_STEPS} steps",
            "make several of it",
        )
    if len(walk.groups) == 1:
        (only,) = walk.groups
        stem = texts.written([*walk.stem, *only.prompt, *walk.pending], "the text")
        if not stem.prose:
            raise UnfitError("its text holds nothing but a field", "say in the text what is asked for")
        answer, mistakes = _answer(only, question, texts)
        return GapItem(stem, {"answer": answer}, mistakes)
    # of several paragraphs before the first field, the last one asks for it, and the others are for all
    first = walk.groups[0]
    if not first.is_in_list and len(first.prompt) > 1:
        walk.stem, first.prompt = [*walk.stem, *first.prompt[:-1]], first.prompt[-1:]
    blocks = [*walk.stem, *walk.pending] or [ParagraphBlock((TextRun("Fill in each field."),))]
    stem = texts.written(blocks, "the text")
    return GapItem(stem, {"steps": list(_steps(walk.groups, question, texts))}, [])


def _decisions(walk: _GapWalk, question: ForeignQuestion, texts: QuestionTexts) -> dict[str, Any] | None:
    """Return a choice where each entry of a list is called right or wrong, None if that isn't asked."""
    options: list[dict[str, Any]] = []
    for group in walk.groups:
        gap = question.gaps[group.rows[0][0]]
        words = [answer.text.text.strip().casefold() for answer in gap.answers]
        is_decision = group.is_in_list and len(group.rows[0]) == len(group.rows) == 1 and bool(group.prompt)
        if not is_decision or gap.kind is not QuestionKind.CHOICE or sorted(words) != ["right", "wrong"]:
            return None
        option: dict[str, Any] = {"text": texts.written(group.prompt, "an option", inline=True).prose}
        if any(
            answer.fraction == 1 and word == "right" for answer, word in zip(gap.answers, words, strict=True)
        ):
            option["correct"] = True
        feedback = next((answer.feedback for answer in gap.answers if answer.feedback), None)
        if feedback is not None and (words_of_feedback := texts.feedback(feedback, "feedback of an option")):
            option["feedback"] = words_of_feedback
        options.append(option)
    if not 0 < sum("correct" in option for option in options) < len(options) <= MAX_OPTIONS:
        return None
    return {"type": "multiple_choice", "policy": "each-answer", "options": options}


def _steps(
    groups: Sequence[_AskedFields], question: ForeignQuestion, texts: QuestionTexts
) -> Iterator[dict[str, Any]]:
    points = _points_of_steps(groups, question, texts)
    for number, (group, worth) in enumerate(zip(groups, points, strict=True), start=1):
        answer, mistakes = _answer(group, question, texts)
        prompt = group.prompt or [ParagraphBlock((TextRun(f"Field {number}."),))]
        step: dict[str, Any] = {
            "id": f"step{number}",
            "prompt": texts.written(prompt, f"the words before field {number}").prose,
            "answer": answer,
            "points": int(worth) if worth == int(worth) else float(worth),
            # its system has marked each field by itself
            "follow_through": False,
        }
        if mistakes:
            step["misconceptions"] = mistakes
        yield step


def _points_of_steps(
    groups: Sequence[_AskedFields], question: ForeignQuestion, texts: QuestionTexts
) -> list[Fraction]:
    """Return each step's share of the question's points, by the weights of its fields."""
    weights = [
        sum((Fraction(question.gaps[gap].points) for row in group.rows for gap in row), Fraction(0))
        for group in groups
    ]
    if not all(weights):
        weights = [Fraction(1)] * len(groups)
        texts.note("fields that weigh nothing count as much as the others here", question.place)
    shares = [Fraction(weight, sum(weights)) * Fraction(question.points) for weight in weights]
    # points are decimals, and thirds of them would never add up
    if all((share * 100).denominator == 1 and share for share in shares):
        return shares
    # as the smallest whole numbers that stand in the same ratio
    scale = lcm(*[weight.denominator for weight in weights])
    whole = [int(weight * scale) for weight in weights]
    total = sum(whole) // gcd(*whole)
    texts.note(
        f"its points can't be shared among its fields, so that it has {count_noun(total, 'point')} here"
    )
    return [Fraction(weight, gcd(*whole)) for weight in whole]


def _answer(
    group: _AskedFields, question: ForeignQuestion, texts: QuestionTexts
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    rows = [[question.gaps[gap] for gap in row] for row in group.rows]
    if len(rows) > 1 or len(rows[0]) > 1:
        return numbers_answer(rows, texts)
    (gap,) = rows[0]
    if gap.kind is QuestionKind.NUMBER:
        return number_answer(replace(gap, unit=group.unit), texts)
    if gap.kind is QuestionKind.TOKEN:
        return token_answer(gap, texts)
    whole = _WHOLES.get(gap.kind)
    if whole is not None:
        return whole(gap, texts), []
    choice = choice_answer(gap, texts)
    return choice.data, []


def _characters(run: Inline) -> str:
    if isinstance(run, TextRun):
        return run.text
    return "\n" if not hasattr(run, "source") else f" {run.source} "
