"""One student's work: as the student sees it, and with everything that only staff sees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.course.people import Role
from engine.errors import UsageError
from engine.marks.class_results import plain_result
from engine.marks.class_table import StudentResults, TableColumn, column_of
from engine.marks.manual import ManualDecision, ManualMarks
from engine.marks.rubric_marking import RUBRIC_CAUSES
from engine.pages.feedback import feedback_entry, feedback_view
from engine.store import Attempt, HandMark
from engine.store.audit import AuditEntry, LogKind, actions_of
from engine.web.forms import whole_number
from engine.web.instructor.log_page import LogDetail, action_words, details_of, person_name
from engine.web.instructor.staff import StudentNames, number_of
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

_LONGEST_REASON = 1000


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a submission, line by line; ``module`` is empty for the program itself."""

    module: str
    name: str
    lines: tuple[str, ...]


def _results(visit: Visit, student: str) -> StudentResults:
    results = next(iter(visit.site.results(only=[student])), None)
    return StudentResults(student) if results is None else results


def student_page(visit: Visit) -> Response:
    """Show a student's marks, column by column, with what was decided about them."""
    names = StudentNames(visit)
    student = names.student(visit.path["student"])
    store = visit.site.store
    results = _results(visit, student)
    return visit.page(
        "instructor/student.html.j2",
        student=student,
        names=names,
        results=_without_names(results, names),
        row=results.row(),
        by_hand=store.hand_marks.history(student=student),
        regrades=list(store.regrades.history(student=student)),
        log=_decisions(visit, student) if visit.may(Role.INSTRUCTOR) else [],
        action_words=action_words,
    )


def _decisions(visit: Visit, student: str) -> list[tuple[AuditEntry, str, list[LogDetail]]]:
    """Return what was decided about a student lately, by whom, and the details in words."""
    kinds = actions_of(LogKind.DECISION, LogKind.MARK)
    entries = visit.site.store.audit.newest(20, student=student, actions=kinds)
    local_time = visit.site.local_time
    return [(entry, person_name(visit, entry), details_of(entry, local_time)) for _, entry in entries]


def seen_page(visit: Visit) -> Response:
    """Show a student's marks as the student sees them now: no more and no less."""
    names = StudentNames(visit)
    student = names.student(visit.path["student"])
    results = _without_names(_results(visit, student), names)
    return visit.page(
        "instructor/student_seen.html.j2",
        student=student,
        names=names,
        results=results,
        view=feedback_view(results),
    )


def _without_names(results: StudentResults, names: StudentNames) -> StudentResults:
    """Return results in which nothing names their student, where names are hidden."""
    if not names.is_hidden:
        return results
    # Receipts have the id, and downloads of learning systems name files after their students.
    items = tuple(
        replace(item, filename="", further=(), reason=_nameless(item.reason, item.filename, names, results))
        for item in results.items
    )
    return replace(results, student=names.handle(results.student), name="", items=items, problems=())


def _nameless(reason: str | None, filename: str, names: StudentNames, results: StudentResults) -> str | None:
    """Return why something has no score, without the file's name."""
    if reason is None or not names.is_hidden:
        return reason
    return names.text(reason.replace(filename, "the file") if filename else reason, results.student)


def work_page(visit: Visit) -> Response:
    """Show one column of a student: every attempt with keys and all checks, the code, and how to mark it."""
    names = StudentNames(visit)
    student = names.student(visit.path["student"])
    store = visit.site.store
    # The newest comes first: it is what somebody wants to mark.
    attempts = _attempts(visit, student, visit.path["column"])
    column = _column(visit, student, visit.path["column"], attempts)
    results = _results(visit, student)
    # With those withdrawn: how a mark came about is part of what staff sees.
    mine = [mark for mark in store.hand_marks.history(student=student) if mark.column == column.id]
    current = next((item for item in results.items if item.column == column), None)
    mark = next((m for c, m in results.without_work if c == column), current.mark if current else None)
    return visit.page(
        "instructor/work.html.j2",
        student=student,
        names=names,
        column=column,
        mark=mark,
        current=current,
        entries=[_entry(student, column, attempt, names) for attempt in reversed(attempts)],
        regrades=[
            change
            for change in store.regrades.history(student=student)
            if any(change.submission == attempt.submission for attempt in attempts)
            and (change.old.score, change.old.outcome) != (change.new.score, change.new.outcome)
        ],
        rubric_causes=RUBRIC_CAUSES,
        by_hand=mine,
        seen=_seen(mine),
        comments=store.code_comments.of(student),
        commented=_place_of_comment(visit, attempts),
        saved=store.saved_comments.of(attempts[-1].item) if attempts else [],
    )


@dataclass(frozen=True, slots=True)
class CommentPlace:
    """The line that somebody is about to comment on."""

    submission: str
    file: str
    line: int


def _place_of_comment(visit: Visit, attempts: Sequence[Attempt]) -> CommentPlace | None:
    submission, line = visit.query.get("submission", ""), whole_number(visit.query.get("line", ""))
    if not line or all(attempt.submission != submission for attempt in attempts):
        return None
    return CommentPlace(submission, visit.query.get("file", ""), line)


def set_mark(visit: Visit) -> Response:
    """Set, change or withdraw a mark by hand, as ``grade mark`` does."""
    names = StudentNames(visit)
    student = names.student(visit.path["student"])
    visit.refuse_own_work(student)
    column, store = visit.path["column"], visit.site.store
    mine = store.hand_marks.history(student=student, column=column)
    if visit.form.text("seen") != _seen(mine):
        raise _decided_meanwhile(visit, mine)
    reason = visit.form.text("reason").strip()[:_LONGEST_REASON]
    with names.in_errors(student):
        mark = _decision(visit, student, column, is_first=not mine)
    if mark is None:
        visit.notice("Nothing to change: this mark is set already.")
    else:
        details = {"score": mark.score, "excused": mark.excused or None, "reason": reason or None}
        action_name = "mark.withdraw" if visit.form.text("action") == "withdraw" else "mark.set"
        with store.one_transaction():
            # The store compares once more, inside its transaction.
            if not store.hand_marks.add(mark, after=len(mine)):
                raise _decided_meanwhile(visit, store.hand_marks.history(student=student, column=column))
            visit.log(action_name, column, student=student, **details)
        visit.notice("Saved. It counts at once, and regrades leave it as it is.")
    return visit.redirect("instructor.class.work", student=visit.path["student"], column=column)


def _decided_meanwhile(visit: Visit, marks: Sequence[HandMark]) -> UsageError:
    return UsageError(
        "somebody else has changed this mark since you opened the page; nothing of yours was stored",
        got=f"{marks[-1].by} at {visit.site.local_time(marks[-1].at)}" if marks else None,
        next_step="reload the page and decide again",
    )


def _decision(visit: Visit, student: str, column: str, *, is_first: bool) -> HandMark | None:
    """Return the mark that a form sets; None where it is set like that already."""
    # Everything is checked by what the command checks it with.
    manual = manual_marks(visit)
    by, action = visit.me.name or visit.me.id, visit.form.text("action")
    if action == "withdraw":
        return manual.withdraw(student, column, by=by, at=visit.now)
    score = visit.form.text("score").strip()
    comment = visit.form.text("comment").replace("\r\n", "\n")
    if action == "excuse" and score:
        raise UsageError("a score and an excuse contradict each other", next_step="leave one of them out")
    decision = ManualDecision(
        score=number_of(score, "the score") if score else None,
        excused=True if action == "excuse" else None,
        comment="\n".join(text for text in (comment, visit.form.text("sentence")) if text),
    )
    if decision.score is None and action != "excuse" and is_first and not decision.comment:
        raise UsageError("there is nothing to set", expected="a score, a comment or an excuse")
    may_exceed = visit.form.text("extra") == "yes"
    return manual.decide(student, column, decision, by=by, at=visit.now, allow_extra=may_exceed)


def manual_marks(visit: Visit) -> ManualMarks:
    """Return what checks marks by hand, for the students and columns of the course."""
    site = visit.site
    roster = site.state.roster
    students = set(roster.by_id) | set(site.store.students(site.mode))
    return ManualMarks(
        site.store,
        students,
        site.bank.code_ids(),
        site.bank.code_points,
        roster.match_cell,
        extra_step="tick “Allow more than full points” if that is meant",
        people=roster.by_id,
    )


def _seen(marks: Sequence[HandMark]) -> str:
    """Return up to which decision somebody knows a mark."""
    return f"{len(marks)}"


def _attempts(visit: Visit, student: str, column: str) -> list[Attempt]:
    store, title_of = visit.site.store, visit.site.bank.title_of
    quizzes = {quiz.id: quiz for quiz in store.quizzes(student=student)}
    return [
        attempt
        for attempt in store.attempts(student=student, mode=visit.site.mode)
        if column_of(attempt, quizzes.get(attempt.quiz or ""), title_of).id == column
    ]


def _column(visit: Visit, student: str, name: str, attempts: Sequence[Attempt]) -> TableColumn:
    if attempts:
        last = attempts[-1]
        quiz = visit.site.store.load_quiz(last.quiz, student) if last.quiz else None
        return column_of(last, quiz, visit.site.bank.title_of)
    try:
        return manual_marks(visit).column(student, name)
    except UsageError as error:
        raise NotFoundError("there is no such column") from error


@dataclass(frozen=True, slots=True)
class AttemptEntry:
    """An attempt as staff sees it: with keys, all checks, and its code line by line."""

    attempt: Attempt
    entry: object
    files: tuple[SourceFile, ...]


def _entry(student: str, column: TableColumn, attempt: Attempt, names: StudentNames) -> AttemptEntry:
    item = replace(
        plain_result(column, attempt),
        # Downloads of learning systems name files after their students.
        filename="" if names.is_hidden else attempt.filename,
        reason=_nameless(attempt.reason, attempt.filename, names, StudentResults(student)),
    )
    entry = feedback_entry(names.handle(student), item, solutions=True)
    return AttemptEntry(attempt, entry, tuple(_files(attempt, names)))


def _files(attempt: Attempt, names: StudentNames) -> list[SourceFile]:
    if attempt.source is None:
        return []
    name = "the program" if names.is_hidden or not attempt.filename else attempt.filename
    files = [SourceFile("", name, _lines(attempt.source))]
    return files + [SourceFile(m, f"{m}.py", _lines(text)) for m, text in attempt.modules.items()]


def _lines(source: str) -> tuple[str, ...]:
    # A page of a million lines helps nobody; what is beyond can be read in the store.
    return tuple(source.splitlines()[:5000])


def add_comment(visit: Visit) -> Response:
    """Comment on a line of code, and keep the sentence for later where that is asked for."""
    names = StudentNames(visit)
    student = names.student(visit.path["student"])
    store, form = visit.site.store, visit.form
    attempts = _attempts(visit, student, visit.path["column"])
    attempt = next((a for a in attempts if a.submission == form.text("submission")), None)
    if attempt is None:
        raise NotFoundError("there is no such submission")
    # A sentence to use again is a button of the form, beside the field with what was typed.
    typed = [text.replace("\r\n", "\n") for text in form.texts("text")]
    text = "\n".join(text for text in typed if text.strip())
    by, line = visit.me.name or visit.me.id, whole_number(form.text("line"))
    with store.one_transaction():
        store.code_comments.add(attempt, line, text, by=by, at=visit.now, file=form.text("file"))
        if form.text("keep") == "yes":
            store.saved_comments.add(text, by=by, at=visit.now, item=attempt.item)
            visit.log("sentence.add", attempt.item)
        visit.log("comment.add", attempt.item, student=student, line=line)
    return visit.redirect("instructor.class.work", student=visit.path["student"], column=visit.path["column"])


def remove_comment(visit: Visit) -> Response:
    """Take a comment on code back; it stays in the store with the time."""
    names = StudentNames(visit)
    student = names.student(visit.path["student"])
    number = whole_number(visit.form.text("comment"))
    store = visit.site.store
    comment = store.code_comments.find(number)
    if comment is None or comment.student != student:
        raise NotFoundError("there is no such comment (any more)")
    with store.one_transaction():
        store.code_comments.remove(number, at=visit.now)
        visit.log("comment.remove", comment.item, student=student, line=comment.line)
    return visit.redirect("instructor.class.work", student=visit.path["student"], column=visit.path["column"])
