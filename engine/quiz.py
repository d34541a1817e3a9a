"""Blueprint + roster + secret → one quiz per student, and the fill-in file that travels.

The student's file holds the quiz id, stems and blanks; never a key, a misconception id or
a seed.  When it comes back only the answers are read from it: points, parameters and
options come from the store.
"""

from __future__ import annotations

import hashlib
import hmac
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from engine.errors import Diagnostic, QuizError
from engine.foreign import clean_line
from engine.grading import grade_answers
from engine.model import GradeReport, Mode, Part, Quiz, QuizQuestion, Response, Variant
from engine.spec import item_version
from engine.spec.bank import Bank
from engine.spec.places import Document, Loc
from engine.spec.schema import ProblemSpec
from engine.spec.validation import validate
from engine.spec.yaml_source import read_yaml
from engine.variants import draw
from engine.variants.stream import Stream

__all__ = [
    "Blueprint",
    "FilledQuiz",
    "Section",
    "choose_items",
    "compose",
    "fill_in_text",
    "grade_quiz",
    "read_blueprint",
    "read_filled",
]

ItemId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=64)]


class Section(BaseModel):
    """Part of a blueprint: pinned items, then drawn ones that match every filter.

    ``count`` is the number of questions in all; left out, the pinned items alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = ""
    items: tuple[ItemId, ...] = ()
    count: int | None = Field(default=None, ge=1, le=100)
    topics: tuple[ItemId, ...] = ()
    types: tuple[str, ...] = ()
    difficulty: tuple[int, int] = (1, 5)
    bloom: tuple[str, ...] = ()
    points: float | None = Field(default=None, gt=0)


class Blueprint(BaseModel):
    """The plan of a quiz; its name is the file's name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(min_length=1, max_length=200)
    sections: tuple[Section, ...] = Field(min_length=1)


def read_blueprint(path: Path) -> Blueprint:
    """Read a blueprint file; :class:`QuizError` with every fault's place."""
    return validate(read_yaml(path, error=QuizError), Blueprint, error=QuizError)


def _kind(spec: ProblemSpec) -> str:
    return spec.answer.type if spec.answer else "steps"


def _matches(spec: ProblemSpec, section: Section) -> bool:
    low, high = section.difficulty
    return (
        _kind(spec) != "code"
        and low <= spec.difficulty <= high
        and (not section.topics or bool(set(section.topics) & set(spec.topics)))
        and (not section.types or _kind(spec) in section.types)
        and (not section.bloom or spec.bloom in section.bloom)
    )


def choose_items(
    blueprint: Blueprint, bank: Bank, secret: bytes, name: str
) -> list[tuple[str, float | None]]:
    """Return (item id, points) in order: the same families for everybody who takes quiz `name`.

    Raises
    ------
    QuizError
        A pinned item is a code exercise or appears twice, or a section has fewer matching
        items than it asks for.
    """
    pinned = [item for section in blueprint.sections for item in section.items]
    doubled = sorted({item for item in pinned if pinned.count(item) > 1})
    if doubled:
        raise QuizError(f"item {doubled[0]} is pinned twice", expected="each item once in a quiz")
    chosen: list[tuple[str, float | None]] = []
    taken = set(pinned)
    for index, section in enumerate(blueprint.sections):
        items = list(section.items)
        for item in items:
            if _kind(bank.load(item)) == "code":
                raise QuizError(
                    f"item {item} is a code exercise, which can't be a quiz question",
                    next_step=f"leave it out; students hand it in with: grade submit {item} FILE",
                )
        missing = (section.count or len(items)) - len(items)
        if missing < 0:
            raise QuizError(
                f"section {index + 1} pins more items than its count",
                expected=f"at most {section.count}",
                got=str(len(items)),
            )
        if not items and not missing:
            raise QuizError(f"section {index + 1} asks for nothing", expected="count or items")
        if missing:
            pool = [i for i in bank.ids() if i not in taken and _matches(bank.load(i), section)]
            if len(pool) < missing:
                raise QuizError(
                    f"section {index + 1} ({clean_line(section.title) or 'untitled'}) finds too few items",
                    expected=f"{missing} more items that match its topics, types, difficulty and Bloom level",
                    got=str(len(pool)),
                    next_step="widen the section, or see: grade list",
                )
            stream = Stream.keyed(secret, f"quiz:{name}:section:{index}", "", 0)
            drawn = stream.shuffled(pool)[:missing]
            taken.update(drawn)
            items += drawn
        chosen += [(item, section.points) for item in items]
    return chosen


def _with_points(variant: Variant, points: float | None) -> Variant:
    if points is None or points == variant.points:
        return variant
    scale = points / variant.points
    return replace(variant, parts=tuple(replace(p, points=p.points * scale) for p in variant.parts))


def quiz_id(secret: bytes, name: str, student: str, attempt: int) -> str:
    """Return the id that the student's file carries: it tells nothing about the draw."""
    message = "\x1f".join(["quiz", name, student, str(attempt)]).encode()
    return hmac.new(secret, message, hashlib.sha256).hexdigest()[:20]


def compose(
    blueprint: Blueprint,
    bank: Bank,
    students: Sequence[str],
    *,
    secret: bytes,
    name: str,
    attempt: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> list[Quiz]:
    """Draw one quiz per student: the same items, each student's own variant.

    Parameters
    ----------
    blueprint : Blueprint
    bank : Bank
    students : sequence of str
        Student ids.
    secret : bytes
        The course secret.
    name : str
        Name of the quiz; part of every seed, so two quizzes draw apart.
    attempt : int
        Another attempt is another draw.

    Returns
    -------
    list of Quiz
        With keys: for the store, never for a student.
    """
    items = choose_items(blueprint, bank, secret, name)
    registry = bank.registry()
    specs = [(bank.load(i), points) for i, points in items]
    versions = [item_version(spec, bank.path(spec.id)) for spec, _ in specs]
    quizzes = []
    for student in students:
        questions = []
        for number, ((spec, points), version) in enumerate(zip(specs, versions, strict=True), start=1):
            variant = draw(
                spec,
                version=version,
                registry=registry,
                secret=secret,
                student=f"{name}/{student}",
                attempt=attempt,
            )
            scaled = _with_points(variant, points)
            questions.append(QuizQuestion(number, scaled, scaled.points))
        quizzes.append(
            Quiz(
                id=quiz_id(secret, name, student, attempt),
                name=name,
                title=blueprint.title,
                student=student,
                questions=tuple(questions),
                attempt=attempt,
            )
        )
        progress()
    return quizzes


# --- the fill-in file -------------------------------------------------------------------


class _Block(str):
    """A string that YAML shows as a literal block."""


class _Dumper(yaml.SafeDumper):
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
        "points": _plain_number(question.points),
        "stem": _shown(variant.stem.plain),
    }
    if variant.notes:
        fields["notes"] = [_shown(note.plain) for note in variant.notes]
    if len(variant.parts) == 1:
        fields |= _part_fields(variant.parts[0])
        fields["answer"] = answers.get(variant.parts[0].id, "")
    else:
        fields["parts"] = [
            {
                "part": part.id,
                "points": _plain_number(part.points),
                "prompt": _shown(part.prompt.plain if part.prompt else part.id),
                **_part_fields(part),
                "answer": answers.get(part.id, ""),
            }
            for part in variant.parts
        ]
    return fields


def _plain_number(value: float) -> float | int:
    return int(value) if value == int(value) else round(value, 4)


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
    body = {
        "quiz": quiz.id,
        "title": quiz.title,
        "student": quiz.student,
        "questions": [
            _question_fields(question, given.get(question.number, {})) for question in quiz.questions
        ],
    }
    return head + yaml.dump(body, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


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
    """

    quiz: str
    answers: Mapping[int, Mapping[str, str]]
    claims: Mapping[int, Mapping[str, Any]]


def _typed(document: Document, loc: Loc) -> str:
    """Return an answer as it was typed; a list in block form as ``a, b`` and its rows by ``;``."""
    written = document.written(loc)
    value = document.value(loc)
    if value is None or written.startswith("[") or not isinstance(value, list | dict):
        return "" if value is None else written
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_typed(document, (*loc, key))}" for key in value)
    entries = [_typed(document, (*loc, index)) for index in range(len(value))]
    return ("; " if any(isinstance(entry, list) for entry in value) else ", ").join(entries)


def read_filled(text: str | bytes | Path, filename: str | None = None) -> FilledQuiz:
    """Read a filled-in quiz file.

    Raises
    ------
    QuizError
        It is no quiz file, names no quiz, or numbers a question twice.
    """
    document = read_yaml(text, filename, error=QuizError)
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
    answers: dict[int, dict[str, str]] = {}
    claims: dict[int, Mapping[str, Any]] = {}
    faults: list[Diagnostic] = []
    for index, question in enumerate(questions):
        loc: Loc = ("questions", index)
        number = question.get("number") if isinstance(question, dict) else None
        if not isinstance(number, int) or isinstance(number, bool):
            faults.append(document.diagnostic(loc, "this question has lost its number (number: 1, 2, …)"))
        elif number in answers:
            faults.append(document.diagnostic(loc, f"question {number} stands twice in the file; keep one"))
        else:
            answers[number] = _answers_of(document, loc, question, faults)
            claims[number] = {"points": document.written((*loc, "points")), "stem": question.get("stem")}
    if faults:
        raise QuizError.of_file(faults)
    return FilledQuiz(document.written(("quiz",)), answers, claims)


def _answers_of(
    document: Document, loc: Loc, question: Mapping[str, Any], faults: list[Diagnostic]
) -> dict[str, str]:
    if "parts" not in question:
        return {"answer": _typed(document, (*loc, "answer")) if "answer" in question else ""}
    parts = question["parts"]
    if not isinstance(parts, list) or not all(isinstance(p, dict) and "part" in p for p in parts):
        faults.append(document.diagnostic((*loc, "parts"), "the parts must be a list of part: and answer:"))
        return {}
    return {
        document.written((*loc, "parts", i, "part")): _typed(document, (*loc, "parts", i, "answer"))
        if "answer" in part
        else ""
        for i, part in enumerate(parts)
    }


def grade_quiz(filled: FilledQuiz, quiz: Quiz, *, mode: Mode) -> list[GradeReport]:
    """Mark a returned file against the stored quiz, question by question.

    A question that is missing in the file counts as blank; one that the quiz doesn't have is an
    error; edited points or stems are ignored and said so in the report's notes.
    """
    known = {question.number for question in quiz.questions}
    strange = sorted(set(filled.answers) - known)
    if strange:
        raise QuizError(f"the file answers question {strange[0]}, which this quiz doesn't have")
    reports = []
    for question in quiz.questions:
        answers = filled.answers.get(question.number, {})
        ids = {part.id for part in question.variant.parts}
        unknown = sorted(set(answers) - ids) if answers else []
        if unknown and set(answers.values()) != {""}:
            raise QuizError(
                f"question {question.number} has no part {clean_line(unknown[0])!r}",
                expected=", ".join(sorted(ids)),
            )
        report = grade_answers(
            question.variant,
            Response({k: v for k, v in answers.items() if k in ids}),
            mode=mode,
            student=quiz.student,
        )
        edits = _edits(question, filled.claims.get(question.number, {}))
        reports.append(replace(report, notes=report.notes + edits))
    return reports


def _edits(question: QuizQuestion, claim: Mapping[str, Any]) -> tuple[str, ...]:
    notes = []
    points = claim.get("points")
    if isinstance(points, str) and points != str(_plain_number(question.points)):
        notes.append(
            f"the file says {clean_line(points)} points for question {question.number}; "
            f"the stored quiz counts: {_plain_number(question.points)}"
        )
    stem = claim.get("stem")
    if isinstance(stem, str) and stem.split() != question.variant.stem.plain.split():
        notes.append(f"the stem of question {question.number} was changed in the file; the stored one counts")
    return tuple(notes)


def total(reports: Iterable[GradeReport]) -> tuple[float | None, float]:
    """Return (score, maximum); the score is None when any question is ungraded."""
    listed = list(reports)
    maximum = sum(report.max_score for report in listed)
    if any(report.score is None for report in listed):
        return None, maximum
    return sum(report.score for report in listed if report.score is not None), maximum
