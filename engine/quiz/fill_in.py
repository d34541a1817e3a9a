"""The fill-in file as it goes out: id, stems and blanks."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import yaml

from engine.foreign import clean_line
from engine.model import Part, Quiz, QuizQuestion, plain_points
from engine.quiz.rules_text import rules_text

__all__ = ["fill_in_text"]


class _Block(str):
    """A string that YAML shows as a literal block."""


class _Dumper(yaml.CSafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(
    _Block, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|")
)


def _shown(text: str) -> str:
    """Return prose as YAML shows it best: short lines plain, the rest as a block wrapped at 96."""
    lines = [
        wrapped
        for line in text.expandtabs(4).strip().split("\n")
        for wrapped in ([line.rstrip()] if line.startswith(" ") else textwrap.wrap(line, 96) or [""])
    ]
    return _Block("\n".join(lines) + "\n") if len(lines) > 1 else "".join(lines)


def _part_fields(part: Part) -> dict[str, Any]:
    from engine.answers import blank_hint

    fields: dict[str, Any] = {}
    if part.prompts:
        fields["prompts"] = {p.id: _shown(p.text.plain) for p in part.prompts}
    if part.options:
        fields["options"] = {o.id: _shown(o.text.plain) for o in part.options}
    fields["how"] = blank_hint(part)
    return fields


def _question_fields(question: QuizQuestion, answers: Mapping[str, str]) -> dict[str, Any]:
    variant = question.variant
    fields: dict[str, Any] = {
        "number": question.number,
        "title": variant.title,
        "points": plain_points(question.points),
        "stem": _shown(variant.stem.plain),
    }
    if question.retry:
        fields["retry"] = question.retry
    if variant.notes:
        fields["notes"] = [_shown(note.plain) for note in variant.notes]
    if len(variant.parts) == 1:
        fields |= _part_fields(variant.parts[0])
        fields["answer"] = answers.get(variant.parts[0].id, "")
    else:
        fields["parts"] = [
            {
                "part": part.id,
                "points": plain_points(part.points),
                "prompt": _shown(part.prompt.plain if part.prompt else part.id),
                **_part_fields(part),
                "answer": answers.get(part.id, ""),
            }
            for part in variant.parts
        ]
    return fields


def fill_in_text(quiz: Quiz, answers: Mapping[int, Mapping[str, str]] | None = None) -> str:
    """Return the YAML file that the student fills in: id, stems and blanks, no key.

    `answers` (question number → part id → text) are written into the blanks.
    """
    given = answers or {}
    head = (
        f"# {clean_line(quiz.title)}\n"
        "# Write your answers behind `answer:` and hand this file in. Everything else in it is\n"
        "# for reading only: changing a stem, an option or the points changes nothing.\n"
    )
    if quiz.exercises:
        head += "# The code exercises at the end are handed in as files of their own, beside this one.\n"
    head += "".join(f"# {sentence}\n" for sentence in rules_text(quiz.rules, on_file=True))
    body: dict[str, Any] = {
        "quiz": quiz.id,
        "title": quiz.title,
        "student": quiz.student,
        "questions": [
            _question_fields(question, given.get(question.number, {})) for question in quiz.questions
        ],
    }
    if quiz.exercises:
        body["exercises"] = [
            {
                "item": exercise.item,
                "title": exercise.title,
                "points": plain_points(exercise.points),
                "begin": f"grade start {exercise.item}",
                "try": f"grade submit {exercise.item} FILE",
            }
            for exercise in quiz.exercises
        ]
    return head + yaml.dump(body, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
