"""The fill-in file as it comes back: only the answers are believed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import Diagnostic, QuizError
from engine.foreign import clean_line
from engine.spec.places import Document, Loc
from engine.spec.yaml_source import read_yaml

__all__ = ["FilledQuiz", "read_filled", "typed"]


@dataclass(frozen=True)
class FilledQuiz:
    """What is believed of a returned file: the quiz id and the answers, as typed.

    Parameters
    ----------
    quiz : str
        Quiz id.
    answers : mapping of int to mapping of str to str
        Question number → part id (``"answer"`` where there is one) → raw text.
    claims : mapping of int to mapping
        Points and stem as they stand in the file: only to tell the student that edits don't count.
    retries : mapping of int to int
        Question number → which of the variants drawn for it the answers are for, where not the first.
    asked : frozenset of int or None
        The questions that could be answered here, where those aren't all: the others aren't marked, for a
        question that a table has no column for isn't a question left blank.
    """

    quiz: str
    answers: Mapping[int, Mapping[str, str]]
    claims: Mapping[int, Mapping[str, Any]]
    retries: Mapping[int, int] = field(default_factory=dict)
    asked: frozenset[int] | None = None


def typed(document: Document, loc: Loc) -> str:
    """Return an answer as it was typed; a list in block form as ``a, b`` and its rows by ``;``.

    ``null`` and ``~`` are what programs write for nothing.
    """
    written = document.written(loc)
    value = document.value(loc)
    if value is None or document.is_null(loc):
        return ""
    if written.startswith("[") or not isinstance(value, list | dict):
        return written
    if isinstance(value, dict):  # ``{a, c}`` is a mapping too, of keys without values
        given = {key: typed(document, (*loc, key)) for key in value}
        return ", ".join(f"{key}: {answer}" if answer else key for key, answer in given.items())
    entries = [typed(document, (*loc, index)) for index in range(len(value))]
    return ("; " if any(isinstance(entry, list) for entry in value) else ", ").join(entries)


def read_filled(text: str | bytes | Path, filename: str | None = None) -> FilledQuiz:
    """Read a filled-in quiz file.

    Raises
    ------
    QuizError
        It is no quiz file, names no quiz, holds no question, or one question or part twice.
    """
    # Nothing but text is wanted: a number that is too large for one is an answer that can't be read.
    document = read_yaml(text, filename, error=QuizError, scalars_as_text=True)
    data = document.data
    if not isinstance(data, dict) or not document.written(("quiz",)) or "quiz" not in data:
        raise QuizError(
            "this is no quiz file",
            where=document.file,
            expected="a YAML file that begins with `quiz: ID`, as made by grade quiz new",
        )
    questions = data.get("questions") or []
    if not isinstance(questions, list):
        raise QuizError.of_file([document.diagnostic(("questions",), "the questions must be a list")])
    if not questions and not data.get("exercises"):
        raise QuizError(
            "there is no question in the file",
            where=document.file,
            expected="the list `questions:`, as the file came with it",
            next_step="hand in the whole file; if an upload was cut short, hand it in again",
        )
    answers: dict[int, dict[str, str]] = {}
    claims: dict[int, Mapping[str, Any]] = {}
    retries: dict[int, int] = {}
    faults: list[Diagnostic] = []
    for index, question in enumerate(questions):
        loc: Loc = ("questions", index)
        number = question.get("number") if isinstance(question, dict) else None
        if isinstance(number, str) and re.fullmatch("[0-9]{1,4}", number):
            number = int(number)
        if not isinstance(number, int):
            faults.append(document.diagnostic(loc, "this question has lost its number (number: 1, 2, …)"))
        elif number in answers:
            faults.append(document.diagnostic(loc, f"question {number} stands twice in the file; keep one"))
        else:
            answers[number] = _answers_of(document, loc, question, faults)
            claims[number] = {"points": document.written((*loc, "points")), "stem": question.get("stem")}
            retries[number] = _retry(document, (*loc, "retry"), question.get("retry", "0"), faults)
    if faults:
        raise QuizError.of_file(faults)
    return FilledQuiz(document.written(("quiz",)), answers, claims, {n: r for n, r in retries.items() if r})


def _retry(document: Document, loc: Loc, value: Any, faults: list[Diagnostic]) -> int:
    if isinstance(value, str) and re.fullmatch("[0-9]{1,3}", value):
        return int(value)
    faults.append(document.diagnostic(loc, "`retry` must be the number that the file came with"))
    return 0


def _answers_of(
    document: Document, loc: Loc, question: Mapping[str, Any], faults: list[Diagnostic]
) -> dict[str, str]:
    if "parts" not in question:
        return {"answer": typed(document, (*loc, "answer")) if "answer" in question else ""}
    parts = question["parts"]
    if not isinstance(parts, list) or not all(isinstance(p, dict) and "part" in p for p in parts):
        faults.append(document.diagnostic((*loc, "parts"), "the parts must be a list of part: and answer:"))
        return {}
    answers: dict[str, str] = {}
    for i, part in enumerate(parts):
        at = (*loc, "parts", i)
        name = document.written((*at, "part"))
        if name in answers:
            message = f"part {clean_line(name, 40)} stands twice in question {question['number']}; keep one"
            faults.append(document.diagnostic((*at, "part"), message))
        answers[name] = typed(document, (*at, "answer")) if "answer" in part else ""
    return answers
