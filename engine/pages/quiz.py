"""A quiz as pages to read and print: the student's, which has no key, and the instructor's, which is the key.

The student's page is made of values of its own, which have no field for a key: a template can't show what
it isn't given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.answers import blank_hint, kind_of
from engine.errors import QuizError
from engine.model import ChoiceOption, Part, Quiz, QuizQuestion, RenderedText
from engine.pages.render import render
from engine.parallel import on_all_cores
from engine.quiz.answer_key import QuizKey
from engine.quiz.quiz_file import fill_in_text
from engine.quiz.rules import rules_text
from engine.text.files import replace_text, write_errors

# Fewer students' files are written sooner than processes are started.
_LEAST_FOR_PROCESSES = 40


@dataclass(frozen=True, slots=True)
class _PrintedOption:
    id: str
    text: RenderedText


@dataclass(frozen=True, slots=True)
class _PrintedPart:
    id: str
    kind: str
    points: float
    prompt: RenderedText | None
    hint: str
    options: tuple[_PrintedOption, ...]
    prompts: tuple[_PrintedOption, ...]
    lines: int


@dataclass(frozen=True, slots=True)
class _PrintedQuestion:
    number: int
    title: str
    points: float
    stem: RenderedText
    notes: tuple[RenderedText, ...]
    parts: tuple[_PrintedPart, ...]


def quiz_page(quiz: Quiz, *, student: str | None = None) -> str:
    """Return the printable page of one student's quiz.

    Parameters
    ----------
    quiz : Quiz
        With its keys, none of which is used.
    student : str, optional
        Name to show; the student's id by default.
    """
    return render(
        "quiz.html.j2",
        quiz=quiz,
        student=student or quiz.student,
        questions=[_question(question) for question in quiz.questions],
        rules=rules_text(quiz.rules, on_file=True),
        total=sum(question.points for question in quiz.questions),
    )


def _question(question: QuizQuestion) -> _PrintedQuestion:
    variant = question.variant
    return _PrintedQuestion(
        number=question.number,
        title=variant.title,
        points=question.points,
        stem=variant.stem,
        notes=variant.notes,
        parts=tuple(_part(part) for part in variant.parts),
    )


def _part(part: Part) -> _PrintedPart:
    return _PrintedPart(
        id=part.id,
        kind=part.type,
        points=part.points,
        prompt=part.prompt,
        hint=blank_hint(part),
        options=_options(part.options),
        prompts=_options(part.prompts),
        lines=kind_of(part.type).lines_on_paper,
    )


def _options(options: tuple[ChoiceOption, ...]) -> tuple[_PrintedOption, ...]:
    return tuple(_PrintedOption(option.id, option.text) for option in options)


def write_quizzes(folder: Path, quizzes: Sequence[Quiz], names: Mapping[str, str]) -> list[tuple[Path, Path]]:
    """Write each student's fill-in file and page, and return both paths.

    A fill-in file that is there stays as it is: it may hold answers.

    Parameters
    ----------
    folder : Path
        Made where it isn't there.
    quizzes : sequence of Quiz
    names : mapping of str to str
        Names by student id, for the pages: a printed quiz is handed to a person, not to a number.

    Raises
    ------
    QuizError
        A file can't be written, or is another quiz's.
    """
    stems = _file_stems(quizzes)

    def write(index: int) -> tuple[Path, Path]:
        quiz = quizzes[index]
        return _write(folder, quiz, stems[index], names.get(quiz.student))

    step = "choose a folder that you may write to: --out FOLDER"
    with write_errors("the quiz files can't be written", folder, next_step=step, kind=QuizError):
        folder.mkdir(parents=True, exist_ok=True)
        written = on_all_cores(write, range(len(quizzes)), least=_LEAST_FOR_PROCESSES)
        return [written[n] if n in written else write(n) for n in range(len(quizzes))]


def _write(folder: Path, quiz: Quiz, stem: str, name: str | None) -> tuple[Path, Path]:
    fill_in, page = folder / f"{stem}.yaml", folder / f"{stem}.html"
    if not fill_in.exists():
        replace_text(fill_in, fill_in_text(quiz))
    elif not _belongs_to(quiz, fill_in):
        raise QuizError(
            "another quiz's file is there already",
            where=str(fill_in),
            next_step="move it away, or choose another --out, --name or --attempt",
        )
    # The page holds nobody's answers, so it may be written anew each time.
    replace_text(page, quiz_page(quiz, student=f"{name} ({quiz.student})" if name else None))
    return fill_in, page


def _belongs_to(quiz: Quiz, path: Path) -> bool:
    # Not parsed: a file with a mistake in its YAML is still this student's.
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return quiz.id in (
        line.removeprefix("quiz:").strip().strip("'\"") for line in lines if line.startswith("quiz:")
    )


def file_stem(quiz: Quiz) -> str:
    """Return a quiz's file name without anything that a file system or a shell could take amiss."""
    text = f"{quiz.name}-{quiz.student}" + (f"-{quiz.attempt}" if quiz.attempt else "")
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in text).strip(".") or "quiz"


def _file_stems(quizzes: Sequence[Quiz]) -> list[str]:
    """Return the files' names; two that a file system could take for one get the quiz's id added."""
    stems = [file_stem(quiz) for quiz in quizzes]
    often = Counter(stem.casefold() for stem in stems)
    return [
        f"{stem}-{quiz.id[:6]}" if often[stem.casefold()] > 1 else stem
        for stem, quiz in zip(stems, quizzes, strict=True)
    ]


def key_page(keys: Sequence[QuizKey], *, names: Mapping[str, str] | None = None) -> str:
    """Return one page with the keys of these students' quizzes (at least one), for the instructor alone.

    Parameters
    ----------
    keys : sequence of QuizKey
    names : mapping of str to str, optional
        Names by student id.
    """
    return render("key.html.j2", keys=keys, names=names or {})


def code_slips_page(
    codes: Mapping[str, str],
    *,
    names: Mapping[str, str],
    course: str,
    quiz: str,
    begins: datetime,
    ends: datetime,
    address: str | None,
) -> str:
    """Return the page with slips of paper that sign students in: to print and cut.

    Parameters
    ----------
    codes : mapping of str to str
        Code by student id.
    names : mapping of str to str
        Names by student id.
    course, quiz : str
        Their titles.
    begins, ends : datetime
        When the codes work, in the course's time zone.
    address : str or None
        Of the site, where it is known.
    """
    ends_text = f"{ends:%H:%M}" if ends.date() == begins.date() else f"{ends:%Y-%m-%d %H:%M}"
    return render(
        "code_slips.html.j2",
        slips=[(student, names.get(student, ""), code) for student, code in codes.items()],
        course=course,
        quiz=quiz,
        period=f"{begins:%Y-%m-%d %H:%M} to {ends_text}",
        address=address,
    )
