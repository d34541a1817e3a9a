"""What people wrote about a student's work: points and remarks by criterion, comments on lines of code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.answers import kind_of
from engine.answers.free_text import fits, rubric_of
from engine.model import GradeReport, Part, RenderedText
from engine.store import CodeComment

_AROUND = 2  # lines of code shown before and after one with a comment


@dataclass(frozen=True, slots=True)
class JudgedCriterion:
    """One criterion of a rubric as its reader may see it.

    Parameters
    ----------
    id : str
    title : RenderedText
    maximum : float
        What it counts at most in the question.
    points : float or None
        What the answer got; None while it waits.
    text : RenderedText or None
        What earns full points; None where solutions aren't shown.
    level : RenderedText or None
        The level that the answer reached.
    remark : str
        Of whoever marked it.
    """

    id: str
    title: RenderedText
    maximum: float
    points: float | None = None
    text: RenderedText | None = None
    level: RenderedText | None = None
    remark: str = ""

    @property
    def style(self) -> str:
        """How it went, as pages style it: ``right``, ``partial``, ``wrong`` or ``waiting``."""
        if self.points is None:
            return "waiting"
        if self.points >= self.maximum - 1e-9:
            return "right"
        return "partial" if self.points > 0 else "wrong"


def judged_criteria(
    part: Part, report: GradeReport, *, with_remarks: bool, with_texts: bool
) -> tuple[JudgedCriterion, ...]:
    """Return the criteria of a part that a person marks; none for other parts, or for a blank one.

    Parameters
    ----------
    part : Part
    report : GradeReport
        As its reader may see it.
    with_remarks : bool
        Whether feedback is shown, and not only points.
    with_texts : bool
        Whether what earns full points is shown, as worked solutions are.
    """
    if not kind_of(part.type).needs_person:
        return ()
    checks = {check.id: check for check in report.checks}
    marks = next((m for m in report.marking if fits(part, m)), None)
    judged = []
    for criterion in rubric_of(part):
        check = checks.get(f"{part.id}.{criterion.id}")
        if check is None:
            return ()
        points = None if marks is None else marks.points.get(criterion.id)
        level = None if points is None or not with_remarks else criterion.level_of(points)
        judged.append(
            JudgedCriterion(
                id=criterion.id,
                title=criterion.title,
                maximum=check.max_points,
                points=None if marks is None else check.points,
                text=criterion.text if with_texts and with_remarks else None,
                level=None if level is None else level.text,
                remark=marks.comments.get(criterion.id, "") if marks is not None and with_remarks else "",
            )
        )
    return tuple(judged)


@dataclass(frozen=True, slots=True)
class CommentedLine:
    """A line of a program with the comments on it; ``skipped`` lines before it aren't shown."""

    number: int
    code: str
    comments: tuple[CodeComment, ...] = ()
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class CommentedFile:
    """One file of a submission; ``name`` is empty for the program itself."""

    name: str
    lines: tuple[CommentedLine, ...]


def commented_files(
    source: str, modules: Mapping[str, str], comments: Sequence[CodeComment], *, whole: bool = False
) -> tuple[CommentedFile, ...]:
    """Return the files that have comments, with the lines around each.

    Parameters
    ----------
    source : str
        The program.
    modules : mapping of str to str
        The files beside it, by module name.
    comments : sequence of CodeComment
        On this very submission.
    whole : bool
        All lines of all files, for whoever writes comments.
    """
    texts = {"": source, **modules}
    by_file: dict[str, dict[int, list[CodeComment]]] = {}
    for comment in comments:
        by_file.setdefault(comment.file, {}).setdefault(comment.line, []).append(comment)
    files = []
    for name, text in texts.items():
        by_line = by_file.get(name, {})
        if by_line or whole:
            files.append(CommentedFile(name, tuple(_lines(text.splitlines(), by_line, whole=whole))))
    return tuple(files)


def _lines(
    code: Sequence[str], by_line: Mapping[int, Sequence[CodeComment]], *, whole: bool
) -> list[CommentedLine]:
    lines, last = [], 0
    for number, text in enumerate(code, start=1):
        if whole or any(abs(number - line) <= _AROUND for line in by_line):
            comments = tuple(by_line.get(number, ()))
            lines.append(CommentedLine(number, text, comments, number - last - 1))
            last = number
    return lines
