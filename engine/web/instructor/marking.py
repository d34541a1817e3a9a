"""Answers that people mark: question by question, without names, several markers at a time.

Each answer is looked up again when its marks are sent. If somebody else has marked it since the page was
opened, nothing is written and the marker is told.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from engine.errors import UsageError
from engine.marks.rubric_marking import AnswerToMark, MarkedField, RubricMarking
from engine.model import ResultDisclosure
from engine.text.words import clean_line, count_noun
from engine.web.forms import whole_number
from engine.web.instructor.staff import number_of, page_of, with_query
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response


def _marking(visit: Visit) -> RubricMarking:
    site = visit.site
    return RubricMarking(site.store, site.mode, site.course.secret())


def fields_page(visit: Visit) -> Response:
    """List the questions that people mark, with how many answers wait."""
    return visit.page(
        "instructor/marking.html.j2",
        fields=_marking(visit).fields(),
        has_scans=bool(visit.site.store.scans.exams()),
        sentences=visit.site.store.saved_comments.of(None),
    )


def _field(visit: Visit, marking: RubricMarking) -> MarkedField:
    field = marking.field(visit.path["field"])
    if field is None:
        raise NotFoundError("nobody has answered such a question yet")
    return field


def field_page(visit: Visit) -> Response:
    """List the answers to one question, those that wait first."""
    marking = _marking(visit)
    field = _field(visit, marking)
    # A stable sort: within both groups the order of pseudonyms stays, which says nothing about people.
    answers = sorted(marking.answers(field), key=lambda answer: answer.marks is not None)
    return visit.page(
        "instructor/marking_field.html.j2",
        field=field,
        answers=page_of(answers, visit),
        waiting=sum(answer.marks is None for answer in answers),
        with_query=lambda **changes: with_query(visit, **changes),
    )


def next_answer(visit: Visit) -> Response:
    """Go to the next answer that waits; markers begin at different places."""
    marking = _marking(visit)
    field = _field(visit, marking)
    after = visit.query.get("after", "")
    # Two markers who both take the first answer would do half the work twice.
    if not after and (answers := marking.answers(field)):
        start = int.from_bytes(hashlib.sha256(visit.me.id.encode()).digest()[:4])
        after = answers[start % len(answers)].id
    answer = marking.next_waiting(field, after)
    if answer is not None and visit.is_own_work(answer.student):
        mine, answer = answer, marking.next_waiting(field, answer.id)
        if answer is not None and answer.id == mine.id:
            visit.notice("One answer still waits: it is yours, and another marker has to mark it.")
            return visit.redirect("instructor.marking")
    if answer is None:
        visit.notice(f"Every answer to {field.id} is marked.")
        return visit.redirect("instructor.marking")
    return visit.redirect("instructor.marking.answer", field=field.id, answer=answer.id)


def _answer(visit: Visit, marking: RubricMarking, field: MarkedField) -> AnswerToMark:
    answer = marking.answer(visit.path["answer"], field)
    if answer is None:
        raise NotFoundError("there is no such answer")
    return answer


def answer_page(visit: Visit) -> Response:
    """Show one answer with its rubric, and the other answers that say the same."""
    marking = _marking(visit)
    field = _field(visit, marking)
    answer = _answer(visit, marking, field)
    progress = next(entry for entry in marking.fields() if entry.field == field)
    return visit.page(
        "instructor/marking_answer.html.j2",
        field=field,
        answer=answer,
        alike=marking.alike(answer),
        progress=progress,
        seen=_seen(answer),
        pictures=_paper_pictures(visit, answer),
        student_view=_student_view(visit, answer),
        sentences=visit.site.store.saved_comments.of(field.item),
    )


def _paper_pictures(visit: Visit, answer: AnswerToMark) -> list[str]:
    """Return what was written on a scanned sheet, as PNG files in base64; nothing for what was typed."""
    if not answer.paper_place:
        return []
    from engine.paper.print_record import PrintedExams
    from engine.scanning.exam_scans import place_pictures

    return place_pictures(answer.paper_place, PrintedExams(visit.site.folder), visit.site.store)


# What students see of marks as soon as they are stored, by what their result shows now.
_STUDENTS_VIEW = {
    ResultDisclosure.NOTHING: "neither points nor comments yet",
    ResultDisclosure.SCORE: "only the total of the quiz now, and no comments yet",
    ResultDisclosure.VERDICT: "the points at once, but neither remarks nor the comment yet",
    ResultDisclosure.FEEDBACK: "points, remarks and the comment at once",
    ResultDisclosure.SOLUTION: "points, remarks and the comment at once",
}


def _student_view(visit: Visit, answer: AnswerToMark) -> str:
    """Return what the student sees now of marks for an answer: the quiz's rules may hold them back."""
    results = next(iter(visit.site.results([answer.student])), None)
    field = answer.field
    for item in results.items if results else ():
        if item.report.item == field.item and (item.column.quiz == field.quiz or not field.quiz):
            return _STUDENTS_VIEW[item.disclosure]
    return _STUDENTS_VIEW[ResultDisclosure.NOTHING]


def _seen(answer: AnswerToMark) -> str:
    """Return which marks of an answer somebody has seen."""
    return "" if answer.marks is None else f"{answer.marks.by} {answer.marks.at.isoformat()}"


def give_marks(visit: Visit) -> Response:
    """Store the marks of an answer, and of those alike that were ticked; go on to the next that waits."""
    marking, form = _marking(visit), visit.form
    field = _field(visit, marking)
    answer = _answer(visit, marking, field)
    visit.refuse_own_work(answer.student)
    # Before anything is read from the form: it was filled in beside other marks.
    if form.text("seen") != _seen(answer):
        raise _other_marker(visit, answer)
    by, store = visit.me.name or visit.me.id, visit.site.store
    if form.text("action") == "withdraw":
        with store.one_transaction():
            if marking.withdraw([answer], by=by, at=visit.now):
                raise _other_marker(visit, answer)
            visit.log("rubric.withdraw", field.id, student=answer.student)
        visit.notice("The marks are withdrawn: the answer waits again.")
        return visit.redirect("instructor.marking.answer", field=field.id, answer=answer.id)
    points = {
        criterion.id: number_of(form.text(f"points.{criterion.id}"), f"what {criterion.title.plain} earns")
        for criterion in answer.rubric
        if form.text(f"points.{criterion.id}").strip()
    }
    # All criteria or none: half a rubric would look like a low mark.
    if missing := [criterion.title.plain for criterion in answer.rubric if criterion.id not in points]:
        raise UsageError(
            "points are missing, so nothing was stored", expected=f"points for {', '.join(missing)}"
        )
    comment = "\n".join(
        text for text in (form.text("comment").replace("\r\n", "\n").strip(), form.text("sentence")) if text
    )
    ticked = set(form.texts("alike"))
    # Asked again: those that were alike when the page was opened may be marked by now.
    alike = [
        other
        for other in marking.alike(answer)
        if other.id in ticked and not visit.is_own_work(other.student)
    ]
    remarks = {c.id: form.text(f"comment.{c.id}").strip() for c in answer.rubric}
    with store.one_transaction():
        together = [answer, *alike]
        skipped = marking.give(together, points, by=by, at=visit.now, comments=remarks, comment=comment)
        # The store compares once more, inside its transaction.
        if any(other.id == answer.id for other in skipped):
            raise _other_marker(visit, answer)
        if form.text("keep") == "yes" and comment:
            store.saved_comments.add(comment, by=by, at=visit.now, item=field.item)
            visit.log("sentence.add", field.item)
        # One entry for each student: the log is searched by student.
        for each in together:
            if each not in skipped:
                visit.log("rubric.mark", field.id, student=each.student, points=sum(points.values()))
    marked = 1 + len(alike) - len(skipped)
    visit.notice(f"{count_noun(marked, 'answer')} marked.")
    if skipped:
        visit.notice(f"{count_noun(len(skipped), 'answer')} had been marked by somebody else meanwhile.")
    if form.text("action") == "stay":
        return visit.redirect("instructor.marking.answer", field=field.id, answer=answer.id)
    return visit.redirect("instructor.marking.next", field=field.id, after=answer.id)


def _other_marker(visit: Visit, answer: AnswerToMark) -> UsageError:
    marks = answer.marks
    who = (
        f"{clean_line(marks.by)} at {visit.site.local_time(marks.at)}"
        if marks is not None
        else "its marks were withdrawn, or its item was corrected"
    )
    return UsageError(
        "somebody else has marked this answer since you opened it; nothing of yours was stored",
        got=who,
        next_step="go back, reload the page, and mark it if you still disagree",
    )


def forget_sentence(visit: Visit) -> Response:
    """Take a sentence off the list of those to use again."""
    number = whole_number(visit.form.text("sentence"))
    store = visit.site.store
    with store.one_transaction():
        if store.saved_comments.remove(number, at=visit.now):
            visit.log("sentence.remove", f"saved comment {number}")
    return visit.redirect("instructor.marking")
