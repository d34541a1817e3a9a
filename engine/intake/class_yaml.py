"""Answers of a class in YAML: a mapping of students, or a list of hand-ins.

For example ``{ada: {1: b, 2: "0.3, 0.7"}, bob: {1: c}}``. Its rows are those of a table, so that all that
follows is the same for both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import IntakeError
from engine.hand_ins import IntakeProblem
from engine.intake.answer_rows import AnswerRow, ClassAnswers, plain_table
from engine.quiz.quiz_file import typed
from engine.text.yaml import read_yaml
from engine.text.yaml_errors import Loc, YamlDocument

__all__ = ["read_class_yaml"]

_YAML_STEP = "mend this entry, then grade again: what is graded is kept"


def read_class_yaml(path: Path, name: str) -> ClassAnswers:
    """Read the answers of a class.

    Either a mapping of students, each with a mapping of answers, or with a list of those where somebody
    handed in several times; ``quiz`` at the top names the quiz. Or a list of hand-ins, each a mapping that
    names the student (``student``, ``id``, ``email`` …) and perhaps ``quiz`` and ``handed``.

    Parameters
    ----------
    path : Path
    name : str
        Name as handed in, clean.

    Raises
    ------
    IntakeError
        It is no YAML, or neither a list nor a mapping.
    """
    document = read_yaml(path, name, error=IntakeError, keep_going=True)
    reading = _Reading(document)
    if isinstance(document.data, dict):
        reading.mapping()
    elif isinstance(document.data, list):
        for at in range(len(document.data)):
            reading.take((at,), None)
    else:
        raise IntakeError.of_file(
            [document.diagnostic((), "expected a list of hand-ins, or one of students")]
        )
    return reading.result()


class _Reading:
    def __init__(self, document: YamlDocument) -> None:
        self._document = document
        self._rows: list[AnswerRow] = []
        self._heads: dict[str, int] = {}
        self._quiz = ""
        self._problems = [
            IntakeProblem(f"{fault.file}:{fault.line}", fault.message, _YAML_STEP)
            for fault in document.faults
        ]

    def result(self) -> ClassAnswers:
        rows = tuple(replace(row, quiz=row.quiz or self._quiz) for row in self._rows)
        return ClassAnswers(self._document.file, rows, self._heads, tuple(self._problems))

    def mapping(self) -> None:
        for key, value in self._document.data.items():
            if key == "quiz" and not isinstance(value, dict | list):
                self._quiz = self._document.written((key,))
            elif isinstance(value, list):
                for at in range(len(value)):
                    self.take((key, at), key)
            else:
                self.take((key,), key)

    def take(self, loc: Loc, student: str | None) -> None:
        """Take one hand-in; `student` is the key that it stands under, if it does."""
        line, _ = self._document.locate(loc, key=True)
        entry = self._document.value(loc)
        if not isinstance(entry, dict):
            self._refuse(line, "expected a mapping of answers, such as {1: b, softmax-weights: [0.3, 0.7]}")
            return
        cells = dict(self._cells(loc, entry))
        if student is not None:
            cells["id"] = student
        layout = plain_table(list(cells))
        if layout is None:
            self._refuse(line, "nothing in this entry tells whose it is: it needs a line `student: ID`")
            return
        texts = list(cells.values())
        answers = {head: texts[at] for head, at in layout.questions.items()}
        self._heads |= {head: line for head in answers if head not in self._heads}
        self._rows.append(
            AnswerRow(
                line,
                {field: texts[at] for field, at in layout.who.items() if texts[at]},
                answers,
                quiz="" if layout.quiz is None else texts[layout.quiz],
                handed="" if layout.handed is None else texts[layout.handed],
            )
        )

    def _cells(self, loc: Loc, entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
        for key, value in entry.items():
            if key == "answers" and isinstance(value, dict):
                yield from self._cells((*loc, key), value)
            else:
                yield key, typed(self._document, (*loc, key))

    def _refuse(self, line: int, message: str) -> None:
        self._problems.append(IntakeProblem(f"{self._document.file}:{line}", message, _YAML_STEP))
