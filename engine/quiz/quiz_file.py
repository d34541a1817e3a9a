"""The fill-in file of a quiz: written with id, stems and blanks, read back for its answers alone.

A student edits it with any editor, so everything else in it counts for nothing: points, stems and options
come from the store, and an edited one is only mentioned.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from engine.errors import Diagnostic, QuizError
from engine.hand_ins import FilledQuiz
from engine.model import Part, Quiz, QuizQuestion
from engine.quiz.rules import rules_text
from engine.text.files import read_hand_in
from engine.text.words import clean_line, plain_points
from engine.text.yaml import read_yaml
from engine.text.yaml_errors import Loc, YamlDocument


class _Block(str):
    """A string that YAML shows as a literal block."""


class _Dumper(yaml.CSafeDumper):
    # Anchors such as &id001, which YAML writes for equal options, would puzzle students.
    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(
    _Block, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|")
)


# Options and concept questions read alike in the files of a whole class.
@lru_cache(maxsize=1024)
def _yaml_text(text: str) -> str:
    # Short lines stand plain; the rest as a block, wrapped so that an editor shows it without scrolling. What
    # begins with a blank is a picture or a program, which wrapping would destroy.
    lines = [
        wrapped
        for line in text.expandtabs(4).strip().split("\n")
        for wrapped in ([line.rstrip()] if line.startswith(" ") else textwrap.wrap(line, 96) or [""])
    ]
    return _Block("\n".join(lines) + "\n") if len(lines) > 1 else "".join(lines)


def _part_fields(part: Part) -> dict[str, Any]:
    from engine.answers import blank_hint, kind_of

    fields: dict[str, Any] = {}
    if part.prompts:
        fields["prompts"] = {p.id: _yaml_text(p.text.plain) for p in part.prompts}
    if part.options:
        fields["options"] = {o.id: _yaml_text(o.text.plain) for o in part.options}
    fields["how"] = blank_hint(part)
    if kind_of(part.type).needs_person:
        fields["how"] += "; write below `answer:`, each line indented as the first one"
    return fields


# Stands in a blank until the file is text: no YAML writer writes an empty line to type into.
_BLANK_LINE = "@write-here@"


def _answer_field(part: Part, text: str) -> str:
    """Return the value of ``answer:``, as a block where words are wanted: no sign in it needs quotes then."""
    from engine.answers import kind_of

    if not kind_of(part.type).needs_person:
        return text
    return _Block((text or _BLANK_LINE).rstrip("\n") + "\n")


def _question_fields(question: QuizQuestion, answers: Mapping[str, str]) -> dict[str, Any]:
    variant = question.variant
    fields: dict[str, Any] = {
        "number": question.number,
        "title": variant.title,
        "points": plain_points(question.points),
        "stem": _yaml_text(variant.stem.plain),
    }
    if question.retry:
        fields["retry"] = question.retry
    if variant.notes:
        fields["notes"] = [_yaml_text(note.plain) for note in variant.notes]
    if len(variant.parts) == 1:
        fields |= _part_fields(variant.parts[0])
        fields["answer"] = _answer_field(variant.parts[0], answers.get(variant.parts[0].id, ""))
    else:
        fields["parts"] = [
            {
                "part": part.id,
                "points": plain_points(part.points),
                "prompt": _yaml_text(part.prompt.plain if part.prompt else part.id),
                **_part_fields(part),
                "answer": _answer_field(part, answers.get(part.id, "")),
            }
            for part in variant.parts
        ]
    return fields


def fill_in_text(quiz: Quiz, answers: Mapping[int, Mapping[str, str]] | None = None) -> str:
    """Return the YAML file that the student fills in: id, stems and blanks, no key.

    `answers` (question number → part id → text) are written into the blanks.
    """
    head = (
        f"# {clean_line(quiz.title)}\n"
        "# Write your answers after `answer:` and hand this file in. Everything else in it is\n"
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
            _question_fields(question, (answers or {}).get(question.number, {}))
            for question in quiz.questions
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
    text = yaml.dump(body, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return head + text.replace(f"{_BLANK_LINE}\n", "\n")


# The fill-in file as it comes back: only the answers are believed.


def typed(document: YamlDocument, loc: Loc) -> str:
    """Return an answer as it was typed; a list in block form as ``a, b`` and its rows by ``;``.

    ``null`` and ``~`` are what programs write for nothing.
    """
    written = document.written(loc)
    value = document.value(loc)
    if value is None or document.is_null(loc):
        return ""
    # "[1, 2]" is how an answer is typed at a prompt too: it stays as it is, and is judged alike.
    if written.startswith("[") or not isinstance(value, list | dict):
        return written
    if isinstance(value, dict):  # ``{a, c}`` is a mapping too, of keys without values
        texts = {key: typed(document, (*loc, key)) for key in value}
        return ", ".join(f"{key}: {answer}" if answer else key for key, answer in texts.items())
    entries = [typed(document, (*loc, index)) for index in range(len(value))]
    return ("; " if any(isinstance(entry, list) for entry in value) else ", ").join(entries)


def is_quiz_file(path: Path) -> bool:
    """Return whether a file is a fill-in file, and no blueprint."""
    return any(line.startswith("quiz:") for line in read_hand_in(path).splitlines())


def read_filled(text: str | bytes | Path, filename: str | None = None) -> FilledQuiz:
    """Read a filled-in quiz file.

    Raises
    ------
    QuizError
        It isn't a quiz file, names no quiz, holds no question, or one question or part twice.
    """
    # Every scalar is read as text: a number that is too large for one is an answer that can't be read.
    document = read_yaml(text, filename, error=QuizError, scalars_as_text=True)
    data = document.data
    if not isinstance(data, dict) or not document.written(("quiz",)) or "quiz" not in data:
        raise QuizError(
            "this isn't a quiz file",
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
    # All faults at once: a student corrects the file in one go.
    faults: list[Diagnostic] = []
    for index, question in enumerate(questions):
        loc: Loc = ("questions", index)
        number = question.get("number") if isinstance(question, dict) else None
        # Read as text, like every scalar; four digits are more questions than any quiz has.
        if isinstance(number, str) and re.fullmatch("[0-9]{1,4}", number):
            number = int(number)
        if not isinstance(number, int):
            faults.append(document.diagnostic(loc, "this question has lost its number (number: 1, 2, …)"))
        elif number in answers:
            faults.append(document.diagnostic(loc, f"question {number} appears twice in the file; keep one"))
        else:
            answers[number] = _answers_of(document, loc, question, faults)
            # Never used for marking; kept so that a note can say what was edited.
            claims[number] = {"points": document.written((*loc, "points")), "stem": question.get("stem")}
            retries[number] = _retry(document, (*loc, "retry"), question.get("retry", "0"), faults)
    if faults:
        raise QuizError.of_file(faults)
    return FilledQuiz(document.written(("quiz",)), answers, claims, {n: r for n, r in retries.items() if r})


def _retry(document: YamlDocument, loc: Loc, value: Any, faults: list[Diagnostic]) -> int:
    if isinstance(value, str) and re.fullmatch("[0-9]{1,3}", value):
        return int(value)
    faults.append(document.diagnostic(loc, "`retry` must be the number that the file came with"))
    return 0


def _answers_of(
    document: YamlDocument, loc: Loc, question: Mapping[str, Any], faults: list[Diagnostic]
) -> dict[str, str]:
    if "parts" not in question:
        return {"answer": typed(document, (*loc, "answer")) if "answer" in question else ""}
    parts = question["parts"]
    if not isinstance(parts, list) or not all(isinstance(p, dict) and "part" in p for p in parts):
        faults.append(document.diagnostic((*loc, "parts"), "the parts must be a list of part: and answer:"))
        return {}
    answers: dict[str, str] = {}
    for i, part in enumerate(parts):
        part_loc = (*loc, "parts", i)
        name = document.written((*part_loc, "part"))
        if name in answers:
            message = f"part {clean_line(name, 40)} appears twice in question {question['number']}; keep one"
            faults.append(document.diagnostic((*part_loc, "part"), message))
        answers[name] = typed(document, (*part_loc, "answer")) if "answer" in part else ""
    return answers
