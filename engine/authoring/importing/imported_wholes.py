"""Orders and answers in words: what is marked as a whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from engine.authoring.importing.foreign_question import ForeignQuestion
from engine.authoring.importing.question_texts import QuestionTexts, UnfitError, slug
from engine.authoring.importing.text_blocks import Block, Inline, ParagraphBlock, TableBlock, TextRun
from engine.authoring.importing.to_markdown import written_blocks
from engine.text.words import count_noun

_MOST_CARDS = 20
_MOST_CRITERIA = 20
_POINTS = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,6})?)(?: points?)?")
_SAMPLE = re.compile(r"an answer that earns (?:all|full)\b.*|sample answer:?", re.IGNORECASE)
NO_RUBRIC = (
    "a free text is marked by a person",
    "write a rubric for it: grade new item ID --type free_text",
)
"""Why an essay is skipped whose markers get no table of criteria, and what to do."""


def ordering_answer(question: ForeignQuestion, texts: QuestionTexts) -> dict[str, Any]:
    """Return the answer of an ordering question.

    Raises
    ------
    UnfitError
        It has too many cards.
    """
    if len(question.answers) > _MOST_CARDS:
        count = count_noun(len(question.answers), "card")
        raise UnfitError(f"it has {count}; at most {_MOST_CARDS} are possible", "drop some")
    cards = []
    ids: list[str] = []
    for number, answer in enumerate(question.answers, start=1):
        text = texts.needed(answer.text, f"card {number}", place=answer.place)
        name = slug(text.words, 24) or "card"
        ids.append(next(i for i in (name, *(f"{name}-{n}" for n in range(2, 1000))) if i not in ids))
        cards.append({"id": ids[-1], "text": text.prose})
    data: dict[str, Any] = {"type": "ordering", "cards": cards, "policy": question.policy}
    if feedback := texts.feedback(question.wrong, "feedback for a wrong order", place=question.place):
        data["feedback"] = feedback
    return data


def rubric_answer(question: ForeignQuestion, texts: QuestionTexts) -> dict[str, Any]:
    """Return the answer of an essay whose markers get a table of criteria.

    Raises
    ------
    UnfitError
        They get none.
    """
    blocks = texts.blocks(question.grader, "the information for graders", place=question.place)
    table = next((block for block in blocks if isinstance(block, TableBlock)), None)
    rubric = _rubric(table) if table is not None else []
    if not rubric:
        raise UnfitError(*NO_RUBRIC)
    if len(rubric) > _MOST_CRITERIA:
        raise UnfitError(f"its rubric has over {_MOST_CRITERIA} criteria", "drop some")
    sample = [block for block in blocks if block is not table and not _is_heading(block)]
    if not sample:
        raise UnfitError("its markers get no sample answer", "write one below the table of criteria")
    data = {"type": "free_text", "rubric": rubric, "sample": texts.written(sample, "the sample answer").prose}
    limits = zip(("min_words", "max_words"), question.words, strict=True)
    return data | {name: limit for name, limit in limits if limit is not None}


def _rubric(table: TableBlock) -> list[dict[str, Any]]:
    """Return the criteria of rows ``title, points, what earns them``; a row without a title is a level."""
    rubric: list[dict[str, Any]] = []
    for row in table.rows:
        if len(row) != 3:
            return []
        title, points, text = (written_blocks([ParagraphBlock(cell)], inline=True) for cell in row)
        match = _POINTS.fullmatch(points.words.strip())
        if match is None:
            continue  # the heading
        # a row without a title is a level of the criterion before it
        value = float(match[1])
        number = int(value) if value == int(value) else value
        if title.words.strip():
            name = slug(title.words, 24) or "criterion"
            ids = [criterion["id"] for criterion in rubric]
            name = next(i for i in (name, *(f"{name}-{n}" for n in range(2, 1000))) if i not in ids)
            rubric.append({"id": name, "title": title.words.strip(), "text": text.prose, "points": number})
        elif rubric:
            rubric[-1].setdefault("levels", []).append({"points": number, "text": text.prose})
    return rubric


def _is_heading(block: Block) -> bool:
    return isinstance(block, ParagraphBlock) and _SAMPLE.fullmatch(_words(block.content)) is not None


def _words(content: Sequence[Inline]) -> str:
    return "".join(run.text for run in content if isinstance(run, TextRun)).strip()
