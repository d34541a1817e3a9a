"""Marks on their way to a learning system: which, when, once, and until they are taken."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.course.policies import Policies
from engine.lti.marks_for_lms import assignment_mark
from engine.model import Mode, Outcome, QuizRules, ResultDisclosure
from engine.store import HandMark
from tests.live.lms import LmsFault
from tests.unit.lti.sending import MINUTE, NOW, LinkedClass, answer, excuse, quiz


def test_a_mark_of_code_is_sent_once_and_again_when_it_changes(course: LinkedClass) -> None:
    course.link("softmax")
    course.code("ada", 20 / 3)
    assert course.round().sent == 1
    assert course.received() == [("u-ada", pytest.approx(6.666667), 10.0, "FullyGraded")]
    assert course.lms.received[0]["activityProgress"] == "Completed"
    assert course.round().sent == 0
    course.now += MINUTE
    course.code("ada", 9.0)
    course.round()
    course.store.hand_marks.add(HandMark("ada", "softmax", 9.5, False, "well explained", "prof", course.now))
    course.round()
    assert [mark[1] for mark in course.received()] == [pytest.approx(6.666667), 9.0, 9.5]
    assert course.lms.received[-1]["comment"] == "Set by prof: 9.5 of 10. Well explained."
    times = [mark["timestamp"] for mark in course.lms.received]
    assert times == sorted(set(times))


def test_a_quiz_is_sent_as_its_page_sums_it_with_unanswered_questions_in_the_maximum(
    course: LinkedClass,
) -> None:
    course.link("week-1")
    for student in ("ada", "bob"):
        course.store.save_quiz(quiz(student))
    answer(course, quiz("ada"), {1: 1.1, 2: 2.2})
    answer(course, quiz("bob"), {1: 2.0})
    course.round()
    assert sorted(course.received()) == [
        ("u-ada", 3.3, 5.0, "FullyGraded"),
        ("u-bob", 2.0, 5.0, "FullyGraded"),
    ]
    rows = {results.student: results.row() for results in course.results()}
    assert rows["ada"].total() == 3.3


def test_what_isnt_graded_yet_is_pending_and_has_no_score(course: LinkedClass) -> None:
    course.link("week-1")
    course.store.save_quiz(quiz("ada"))
    answer(course, quiz("ada"), {1: 1.0, 2: None})
    course.round()
    assert course.received() == [("u-ada", None, 5.0, "Pending")]
    assert course.lms.received[0]["activityProgress"] == "Submitted"
    (waiting,) = [a for a in course.store.attempts(student="ada") if a.report.score is None]
    graded = replace(waiting.report, outcome=Outcome.PARTIAL, score=2.5)
    course.now += MINUTE
    course.store.record(replace(waiting, report=graded, finished=datetime.now(UTC)))
    course.round()
    assert course.received()[-1] == ("u-ada", 3.5, 5.0, "FullyGraded")


def test_nothing_leaves_before_it_may_be_shown(course: LinkedClass) -> None:
    course.link("week-1")
    course.link("softmax", "2")
    until = course.now + timedelta(hours=1)
    hidden = QuizRules(
        deadline=until, show_before=ResultDisclosure.NOTHING, show_after=ResultDisclosure.SCORE
    )
    course.store.save_quiz(quiz("ada", hidden))
    answer(course, quiz("ada", hidden), {1: 1.0, 2: 3.0})
    course.policies = Policies.model_validate({"assignments": {"softmax": {"release": "never"}}})
    course.code("ada", 5.0)
    assert course.round().sent == 0 and course.received() == []
    course.round(minutes=61)  # the deadline is over: nobody has done anything
    assert course.received() == [("u-ada", 4.0, 5.0, "FullyGraded")]
    course.policies = Policies.model_validate({"assignments": {"softmax": {"release": "immediately"}}})
    course.round()
    assert course.received()[-1] == ("u-ada", 5.0, 10.0, "FullyGraded")


def test_practice_is_never_sent(course: LinkedClass) -> None:
    course.link("softmax")
    course.mode = Mode.PRACTICE
    course.code("ada", 5.0)
    assert course.round().sent == 0


def test_excused_columns_have_no_points_on_either_side(course: LinkedClass) -> None:
    course.store.save_quiz(quiz("ada"))
    answer(course, quiz("ada"), {1: 1.0, 2: 3.0})
    course.store.hand_marks.add(HandMark("ada", "week-1/two", None, True, "", "prof", NOW))
    (results,) = course.results(["ada"])
    mark = assignment_mark(results, "week-1", 5.0)
    assert mark is not None and (mark.score, mark.maximum) == (1.0, 2.0)
    course.store.hand_marks.add(HandMark("ada", "week-1/one", None, True, "", "prof", NOW))
    (results,) = course.results(["ada"])
    assert assignment_mark(results, "week-1", 5.0) is None
    assert assignment_mark(results, "week-2", 5.0) is None


def test_work_excused_after_its_mark_was_sent_clears_the_mark(course: LinkedClass) -> None:
    course.link("week-1")
    for student in ("ada", "bob"):
        course.store.save_quiz(quiz(student))
    answer(course, quiz("ada"), {1: 1.0, 2: 3.0})
    excuse(course, "bob")
    course.round()
    assert course.received() == [("u-ada", 4.0, 5.0, "FullyGraded")], "bob has nothing to be taken back"
    excuse(course, "ada")
    course.round()
    assert course.received()[1:] == [("u-ada", None, 5.0, "NotReady")]
    assert course.lms.received[-1]["activityProgress"] == "Initialized"
    assert course.lms.received[-1]["comment"] == "Excused."
    assert course.round().sent == 0, "once"
    course.store.hand_marks.add(HandMark("ada", "week-1/one", 1.5, False, "", "prof", course.now))
    course.round()
    assert course.received()[-1] == ("u-ada", 1.5, 2.0, "FullyGraded")


def test_marks_go_to_the_users_of_the_links_own_course(course: LinkedClass) -> None:
    course.link("softmax")
    course.people("cyd", context="another")
    for student in ("ada", "cyd"):
        course.code(student, 5.0)
    course.round()
    assert [mark[0] for mark in course.received()] == ["u-ada"]


def test_a_student_who_comes_later_gets_marks_that_were_there_already(course: LinkedClass) -> None:
    course.link("softmax")
    course.code("cyd", 8.0)
    course.round()
    course.now += MINUTE
    course.people("cyd")
    course.round()
    assert [mark[:2] for mark in course.received()] == [("u-cyd", 8.0)]


def test_a_missing_column_is_made(course: LinkedClass) -> None:
    scope = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
    link = course.link("softmax", scopes=(scope,))
    course.lms.items.clear()
    items = f"{course.lms.address}/items"
    course.store.lti.put_link(replace(link, line_item=None, line_items=items))
    course.code("ada", 5.0)
    course.lms.faults.append(LmsFault("/items", 500, times=1))
    course.round()
    assert course.received() == []
    course.round(minutes=3)
    assert course.lms.items["1"]["label"] == "softmax" and course.lms.items["1"]["scoreMaximum"] == 10
    assert course.received() == [("u-ada", 5.0, 10.0, "FullyGraded")]


def test_while_the_system_is_away_marks_wait_and_the_newest_arrives_once(course: LinkedClass) -> None:
    course.link("softmax")
    course.lms.faults.append(LmsFault("/items/.*", 503))
    course.code("ada", 5.0)
    course.code("bob", 6.0)
    outcome = course.round()
    assert (outcome.sent, outcome.failed) == (0, 1)  # the second one isn't even tried
    assert len([r for r in course.lms.requests if "scores" in r]) == 1
    course.now += MINUTE
    course.code("ada", 7.0)
    course.round()
    assert course.store.lti_outbox.counts()["failed"] >= 1
    course.lms.faults.clear()
    for _ in range(3):
        course.round(minutes=30)
    assert sorted(mark[:2] for mark in course.received()) == [("u-ada", 7.0), ("u-bob", 6.0)]
    assert course.store.lti_outbox.counts() == {"sent": 2, "waiting": 0, "failed": 0}


def test_pauses_grow_and_end_at_six_hours_and_the_systems_own_wish_holds(course: LinkedClass) -> None:
    course.link("softmax")
    course.code("ada", 5.0)
    course.lms.faults.append(LmsFault("/items/.*", 500))
    pauses = []
    for _ in range(14):
        course.sender.send() if pauses else course.round()
        (row,) = course.store.lti_outbox.rows(waiting=True)
        assert row.next_try is not None
        pauses.append(row.next_try - course.now)
        course.now = row.next_try
    assert pauses[0] == timedelta(seconds=10) and pauses[1] == timedelta(seconds=20)
    assert pauses == sorted(pauses) and pauses[-1] == timedelta(hours=6)
    course.lms.faults[:] = [LmsFault("/items/.*", 429, headers={"Retry-After": "90000"})]
    course.store.lti_outbox.retry_all(course.now)
    course.sender.send()
    (row,) = course.store.lti_outbox.rows(waiting=True)
    assert row.next_try == course.now + timedelta(hours=6)


def test_what_only_people_can_change_is_listed_and_tried_rarely(course: LinkedClass) -> None:
    course.link("softmax")
    course.code("ada", 5.0)
    course.lms.items.clear()
    outcome = course.round()
    assert outcome.reasons == {
        "Test LMS doesn't answer about a mark: status 404: it no longer has this column or course"
    }
    (row,) = course.store.lti_outbox.rows(waiting=True)
    assert row.next_try == course.now + 5 * MINUTE and row.reason in outcome.reasons


def test_an_answer_that_is_lost_doubles_nothing(course: LinkedClass) -> None:
    course.link("softmax")
    course.code("ada", 5.0)
    course.lms.faults.append(LmsFault("/items/1/scores", drop=True, times=1))
    assert course.round().failed == 1
    assert course.round().sent == 1
    assert len(course.lms.marks) == 1 and {mark[1] for mark in course.received()} == {5.0}
    canvas = "https://canvas.instructure.com/lti/submission"
    assert [mark[canvas]["new_submission"] for mark in course.lms.received] == [True, False]


def test_disabled_systems_get_nothing_until_they_are_enabled(course: LinkedClass) -> None:
    course.link("softmax")
    course.code("ada", 5.0)
    course.store.lti.enable_platform(course.platform.id, disabled=course.now)
    course.round()
    assert course.received() == []
    course.store.lti.enable_platform(course.platform.id, disabled=None)
    course.store.lti_outbox.retry_all(course.now)
    course.round()
    assert len(course.received()) == 1


_KILLED = """
    import sys
    from datetime import UTC, datetime, timedelta
    from engine.lti.grade_sender import GradeSender
    from engine.store import open_store

    with open_store(sys.argv[1]) as store:
        now = datetime.fromisoformat(sys.argv[2])
        GradeSender(store, clock=lambda: now).send()
"""


def test_a_kill_between_sending_and_noting_sends_the_same_mark_again(
    course: LinkedClass, tmp_path: Path
) -> None:
    course.link("softmax")
    course.code("ada", 5.0)
    course.collector.collect(course.source, course.policies, course.now)
    script = tmp_path / "send.py"
    script.write_text(textwrap.dedent(_KILLED))
    command = [sys.executable, str(script), course.store.where, course.now.isoformat()]
    root = str(Path(__file__).parents[3])
    environment = {"SOFTMARK_CRASH_AT": "lti-mark-sent", "PYTHONPATH": root, "PATH": "/usr/bin"}
    killed = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert killed.returncode not in (0, 1), killed.stderr
    assert len(course.received()) == 1
    (row,) = course.store.lti_outbox.rows(waiting=True)
    assert course.sender.send().sent == 0  # the lease of the one that was killed
    course.now += 3 * MINUTE
    assert course.sender.send().sent == 1
    assert len(course.lms.marks) == 1
    assert {mark[1] for mark in course.received()} == {5.0}
    assert course.store.lti_outbox.rows()[0].is_sent and row.sent is None
