"""Marks that are more than points: waiting, failed, excused, withdrawn, lowered, or above the maximum."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.course.policies import Policies
from engine.lti.service_calls import PlatformCalls, ScoreIsOlderError
from engine.marks.rubric_marking import RubricMarking
from engine.model import Mode, Outcome, Quiz, QuizQuestion, QuizRules, ResultDisclosure
from engine.store import Attempt, HandMark
from tests.live.lms import LmsFault
from tests.unit.lti.sending import MINUTE, LinkedClass, answer, excuse, quiz
from tests.unit.lti.test_service_calls import grade as a_grade
from tests.unit.marks.free_text_class import SECRET, hand_in, item_variant, report_on

CANVAS_OLDER = (
    b'{"errors":{"type":"bad_request","message":"Provided timestamp of 2026-11-02T08:01:00.000+00:00 before '
    b'last updated timestamp of 2026-11-02T08:30:00.700Z"}}'
)


def by_hand(course: LinkedClass, score: float | None, comment: str = "", item: str = "softmax") -> None:
    course.now += MINUTE
    course.store.hand_marks.add(HandMark("ada", item, score, False, comment, "prof", course.now))


def last(course: LinkedClass) -> tuple[str, str, float | None]:
    mark = course.lms.received[-1]
    return mark["activityProgress"], mark["gradingProgress"], mark.get("scoreGiven")


def test_what_a_person_must_mark_is_pending_manual_and_never_a_0(course: LinkedClass, tmp_path: Path) -> None:
    course.link("week-1")
    hand_in(course.store, item_variant(tmp_path), "ada", "Softmax divides by the sum.")
    course.round()
    assert last(course) == ("Submitted", "PendingManual", None)
    assert course.lms.grade("u-ada") is None
    marking = RubricMarking(course.store, Mode.MARKS, SECRET)
    (field,) = [progress.field for progress in marking.fields()]
    course.now += MINUTE
    marking.give(marking.answers(field), {"softmax": 1.0, "division": 0.5}, by="mia", at=course.now)
    course.round()
    # A third for the number, and 1.5 of 3 for the reason.
    assert last(course)[1:] == ("FullyGraded", pytest.approx(course.lms.received[-1]["scoreGiven"]))
    assert 0 < course.lms.received[-1]["scoreGiven"] < 6.0 == course.lms.received[-1]["scoreMaximum"]
    course.now += MINUTE
    marking.withdraw(marking.answers(field), by="mia", at=course.now)
    course.round()
    assert last(course) == ("Submitted", "PendingManual", None)
    assert course.lms.grade("u-ada") is None, "the points that were there are gone"


def test_one_answer_that_waits_for_a_person_makes_the_quiz_pending_manual(
    course: LinkedClass, tmp_path: Path
) -> None:
    """Also where the machine has something left to do: it can't finish the mark alone."""
    course.link("week-1")
    variant = item_variant(tmp_path)
    first = quiz("ada").questions[0]
    both = Quiz("q-ada", "week-1", "Week 1", "ada", (first, QuizQuestion(2, variant, 3.0)))
    course.store.save_quiz(both)
    answer(course, both, {1: None})
    from engine.model import Response

    typed = Response({"total": "1", "reason": "It divides by the sum."})
    report = report_on(variant, "It divides by the sum.")
    waits = Attempt.of_answer("ada", both.questions[1], typed, report, quiz=both.id, started=course.now)
    course.store.record_all([waits])
    course.round()
    assert last(course) == ("Submitted", "PendingManual", None)


def test_what_the_machine_couldnt_grade_has_failed_until_it_is_graded(course: LinkedClass) -> None:
    course.link("softmax")
    course.code("ada", None, notes=("The sandbox didn't start.",))
    course.round()
    assert last(course) == ("Submitted", "Failed", None)
    assert course.lms.grade("u-ada") is None
    (attempt,) = course.store.attempts(student="ada")
    graded = replace(attempt.report, outcome=Outcome.PARTIAL, score=7.5, notes=())
    course.now += MINUTE
    course.store.record(replace(attempt, report=graded, finished=datetime.now(UTC)))
    course.round()
    assert last(course) == ("Completed", "FullyGraded", 7.5)


def test_a_mark_by_hand_that_is_withdrawn_gives_way_to_what_was_graded(course: LinkedClass) -> None:
    course.link("softmax")
    course.code("ada", 4.0)
    by_hand(course, 9.0, "well explained")
    course.round()
    by_hand(course, None)
    course.round()
    assert [mark[1] for mark in course.received()] == [9.0, 4.0]


def test_a_mark_that_is_withdrawn_with_nothing_behind_it_is_cleared(course: LinkedClass) -> None:
    course.link("softmax")
    course.enrol("ada")
    by_hand(course, 9.0)
    course.round()
    assert course.lms.grade("u-ada") == 9.0
    by_hand(course, None)
    course.round()
    assert last(course) == ("Initialized", "NotReady", None)
    assert course.lms.received[-1]["comment"] == "The mark was withdrawn."
    assert course.lms.grade("u-ada") is None
    assert course.round().sent == 0, "once"
    by_hand(course, 2.0)
    course.round()
    assert course.lms.grade("u-ada") == 2.0


def test_whoever_leaves_the_roster_keeps_the_mark_there(course: LinkedClass) -> None:
    """A roster that was emptied by mistake must not empty the gradebook of the learning system."""
    course.link("softmax")
    course.enrol("ada", "bob")
    by_hand(course, 9.0)
    course.round()
    course.enrol()
    course.round(minutes=20)
    assert course.lms.grade("u-ada") == 9.0


def test_nobody_without_work_is_told_of(course: LinkedClass) -> None:
    course.link("softmax")
    course.store.save_quiz(quiz("ada"))
    course.link("week-1", "2")
    course.code("bob", 5.0)
    course.round()
    assert [mark[0] for mark in course.received()] == ["u-bob"]
    assert len(course.store.lti_outbox.rows()) == 1


def test_a_mark_that_is_hidden_again_isnt_cleared(course: LinkedClass) -> None:
    """What the learning system has was seen; whether there is still a mark may not be told now."""
    course.link("softmax")
    course.code("ada", 5.0)
    course.round()
    course.policies = Policies.model_validate({"assignments": {"softmax": {"release": "never"}}})
    by_hand(course, 1.0)
    assert course.round().sent == 0
    assert course.lms.grade("u-ada") == 5.0


def test_a_link_that_opens_something_else_gets_no_marks_of_what_it_opened_before(course: LinkedClass) -> None:
    link = course.link("softmax")
    course.code("ada", 5.0)
    course.code("bob", 6.0)
    course.code("bob", 2.0, "attention")
    course.round()
    course.store.lti.put_link(replace(link, assignment="attention"))
    course.round()
    assert (course.lms.grade("u-ada"), course.lms.grade("u-bob")) == (None, 2.0)


def test_an_excuse_before_anything_was_sent_says_nothing(course: LinkedClass) -> None:
    course.link("week-1")
    course.store.save_quiz(quiz("ada"))
    answer(course, quiz("ada"), {1: 1.0, 2: 3.0})
    excuse(course, "ada")
    assert course.round().sent == 0 and course.store.lti_outbox.rows() == []


def test_a_regrade_that_lowers_a_mark_is_sent_too(course: LinkedClass) -> None:
    course.link("softmax")
    course.code("ada", 9.0)
    course.round()
    (attempt,) = course.store.attempts(student="ada")
    course.now += MINUTE
    lower = replace(attempt.report, score=3.25)
    pair = (attempt, replace(attempt, report=lower))
    course.store.regrades.replace([pair], run="r1", by="prof", at=course.now, cause="the key was wrong")
    course.round()
    assert [mark[1] for mark in course.received()] == [9.0, 3.25]
    assert course.lms.grade("u-ada") == 3.25


def test_points_above_the_maximum_arrive_as_they_are(course: LinkedClass) -> None:
    course.link("softmax")
    course.lms.items["1"]["scoreMaximum"] = 100
    course.code("ada", 10.0)
    by_hand(course, 11.5, "a bonus for the proof")
    course.round()
    mark = course.lms.received[-1]
    assert (mark["scoreGiven"], mark["scoreMaximum"]) == (11.5, 10.0)
    assert course.lms.grade("u-ada") == 115.0
    assert mark["comment"] == "Set by prof: 11.5 of 10. A bonus for the proof."


def test_the_comment_has_reasons_and_remarks_and_an_end(course: LinkedClass) -> None:
    course.link("softmax")
    course.policies = Policies.model_validate(
        {"assignments": {"softmax": {"due": "2026-10-31T12:00", "late": {"percent": 10}}}}
    )
    course.code("ada", 10.0, handed=course.now)
    course.round()
    assert course.lms.received[-1]["scoreGiven"] == 8.0
    assert course.lms.received[-1]["comment"] == "2 days late: 20 % off, 8 of 10."
    by_hand(course, None, "Look at \u202e<b>line 3</b>.\n" * 200)
    course.round()
    comment = course.lms.received[-1]["comment"]
    assert "line 3" in comment and len(comment) == 1000


def test_no_comment_tells_more_than_the_student_may_see(course: LinkedClass) -> None:
    course.link("week-1")
    score_only = QuizRules(show_before=ResultDisclosure.SCORE, show_after=ResultDisclosure.SCORE)
    course.store.save_quiz(quiz("ada", score_only))
    answer(course, quiz("ada", score_only), {1: 1.0, 2: 3.0})
    by_hand(course, 0.5, "the second step is wrong", "week-1/one")
    course.round()
    assert course.lms.received[-1]["scoreGiven"] == 3.5 and "comment" not in course.lms.received[-1]


def test_canvas_has_a_newer_mark_with_a_status_of_its_own(course: LinkedClass, calls: PlatformCalls) -> None:
    """Somebody graded there while ours was on its way: a later time makes sure that ours is the newest."""
    link = course.link("softmax")
    course.lms.faults.append(LmsFault("/items/1/scores", 400, CANVAS_OLDER, times=1))
    assert link.line_item is not None
    with pytest.raises(ScoreIsOlderError):
        calls.put_score(link.line_item, a_grade())
    course.code("ada", 5.0)
    course.lms.faults.append(LmsFault("/items/1/scores", 400, CANVAS_OLDER, times=1))
    outcome = course.round()
    assert (outcome.sent, outcome.failed) == (1, 0)
    assert course.lms.grade("u-ada") == 5.0
    (row,) = course.store.lti_outbox.rows()
    assert row.is_sent and row.at >= course.now - timedelta(seconds=1)
