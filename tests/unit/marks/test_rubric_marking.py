"""Answers in words: what waits for a person, what their points become, and what nobody can do with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answers.free_text import length_text, rubric_digest, rubric_of
from engine.errors import UsageError
from engine.grading import grade_answers
from engine.marks.rubric_marking import MARKED_CAUSE, AnswerToMark, RubricMarking
from engine.model import Mode, Outcome, QuizRules, Response, RubricMarks, Variant, Verdict
from engine.store import Store, open_store
from tests.live.postgres import server
from tests.unit.marks.free_text_class import ITEM, NOW, SECRET, TEXTS, hand_in, item_variant, report_on

FULL = {"softmax": 1.0, "division": 2.0}


@pytest.fixture(scope="session")
def variant(tmp_path_factory: pytest.TempPathFactory) -> Variant:
    return item_variant(tmp_path_factory.mktemp("item"))


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    place = server().new_store() if request.param == "postgresql" else tmp_path / "store.db"
    with open_store(place) as opened:
        yield opened


@pytest.fixture
def marking(store: Store, variant: Variant) -> RubricMarking:
    for student, text in TEXTS.items():
        hand_in(store, variant, student, text)
    return RubricMarking(store, Mode.MARKS, SECRET)


def the_answer(marking: RubricMarking, student: str) -> AnswerToMark:
    field = marking.field("week-1/why-weights/reason")
    assert field is not None
    (answer,) = [answer for answer in marking.answers(field) if answer.student == student]
    return answer


def test_an_answer_in_words_waits_and_the_computed_part_is_graded(variant: Variant) -> None:
    report = report_on(variant, "Because of softmax, which normalises.")
    assert (report.outcome, report.score, report.needs_person) == (Outcome.UNGRADED, None, True)
    assert report.word == "to be marked"
    assert {check.id: check.verdict for check in report.checks} == {
        "total": Verdict.PASSED, "reason.softmax": Verdict.WAITING, "reason.division": Verdict.WAITING
    }  # fmt: skip
    assert report.notes == ("A person marks this answer: it has no score yet.",)


def test_a_blank_one_is_0_at_once(variant: Variant) -> None:
    report = report_on(variant, "  \n")
    assert (report.outcome, report.score, report.needs_person) == (Outcome.PARTIAL, 1.0, False)


def test_one_that_is_too_long_is_refused_only_while_it_can_be_shortened(variant: Variant) -> None:
    response = Response({"total": "1", "reason": "one two three four five six seven eight nine"})
    refused = grade_answers(variant, response, mode=Mode.MARKS, student="amy", can_change=True)
    assert (refused.outcome, refused.score) == (Outcome.FORMAT_ERROR, None)
    assert refused.checks[1].message.splitlines()[:2] == ["this has 9 words", "  expected: at most 8 words"]
    assert "shorten it; this costs no attempt" in refused.checks[1].message
    response = Response({"total": "1", "reason": "one two three four five six seven – eight"})
    assert grade_answers(variant, response, mode=Mode.MARKS, student="amy", can_change=True).needs_person
    (part,) = [part for part in variant.parts if part.id == "reason"]
    assert length_text(part, "one, two") == "2 words, 6 left"
    assert length_text(part, "one two three four five six seven eight nine") == "9 words, 1 too many"


def test_the_marker_sees_by_how_much_it_is_too_long(store: Store, variant: Variant) -> None:
    hand_in(store, variant, "amy", "one two three four five six seven eight nine ten")
    marking = RubricMarking(store, Mode.MARKS, SECRET)
    assert the_answer(marking, "amy").length == "10 words, 2 too many"


def test_its_length_is_mentioned_where_it_is_marked_all_the_same(variant: Variant) -> None:
    notes = report_on(variant, "one two three four five six seven eight nine").notes
    assert "Your answer has 9 words; at most 8 were asked for." in notes
    assert "Your answer has 1 word; at least 2 were asked for." in report_on(variant, "Softmax.").notes
    refused = report_on(variant, "x" * 20_001)
    assert refused.outcome is Outcome.FORMAT_ERROR
    assert "at most 20000 characters" in refused.checks[1].message


@given(
    softmax=st.sampled_from([0, 0.5, 1]), division=st.sampled_from([0, 0.5, 2]), worth=st.floats(0.01, 1000)
)
def test_a_score_is_the_sum_of_the_criteria(
    variant: Variant, softmax: float, division: float, worth: float
) -> None:
    """Property: whatever a question is worth, points scale with it and stay within its full marks."""
    parts = tuple(replace(part, points=worth) if part.id == "reason" else part for part in variant.parts)
    asked = replace(variant, parts=parts)
    given_points = {"softmax": softmax, "division": division}
    marks = RubricMarks("reason", given_points, "prof", NOW, rubric_digest(parts[1]))
    response = Response({"total": "2", "reason": "some words"})
    report = grade_answers(asked, response, mode=Mode.MARKS, student=None, marking=[marks])
    assert report.score is not None
    assert report.score == pytest.approx(worth * (softmax + division) / 3, abs=1e-6)
    assert report.score == pytest.approx(sum(check.points for check in report.checks), abs=1e-6)
    assert 0 <= report.score <= report.max_score
    assert report.marking == (marks,)


def test_marks_of_another_rubric_count_for_nothing(variant: Variant) -> None:
    marks = RubricMarks("reason", FULL, "prof", NOW, "0" * 16)
    response = Response({"total": "1", "reason": "some words"})
    report = grade_answers(variant, response, mode=Mode.MARKS, student=None, marking=[marks])
    assert report.needs_person
    assert report.marking == ()


def test_what_waits_is_listed_without_names_and_alike_answers_together(marking: RubricMarking) -> None:
    (progress,) = marking.fields()
    assert (progress.field.id, progress.waiting, progress.marked) == ("week-1/why-weights/reason", 3, 0)
    answers = marking.answers(progress.field)
    names = [answer.pseudonym for answer in answers]
    assert names == sorted(set(names))
    assert not any(student in answer.pseudonym + answer.id for answer in answers for student in TEXTS)
    amy = the_answer(marking, "amy")
    assert [other.student for other in marking.alike(amy)] == ["ben"]
    assert marking.alike(the_answer(marking, "eve")) == []
    assert marking.answer(amy.id) == amy
    assert marking.answer("0" * 12) is None
    assert marking.field("week-1/softmax") is None


def test_marks_make_a_report_with_a_history(marking: RubricMarking, store: Store) -> None:
    amy = the_answer(marking, "amy")
    points = {"softmax": 0.5, "division": 2}
    untouched = marking.give(
        [amy, *marking.alike(amy)], points, by="prof", at=NOW, comments={"softmax": "named, not explained"},
        comment="Good.",
    )  # fmt: skip
    assert untouched == []
    for student in ("amy", "ben"):
        (attempt,) = store.attempts(student=student)
        report = attempt.report
        # 1 of 4 for the sum and 2.5 of 4 for the reason, of a question that is worth 6
        assert (report.score, report.max_score, report.outcome) == (5.25, 6.0, Outcome.PARTIAL)
        assert [(c.points, c.max_points, c.message) for c in report.checks[1:]] == [
            (0.75, 1.5, "named, not explained"), (3.0, 3.0, "Divides by the sum.")
        ]  # fmt: skip
        assert "Good." in report.notes
        assert (attempt.reason, attempt.finished) == (None, NOW)
        (change,) = store.regrades.history(student=student)
        assert (change.by, change.cause, change.old.score) == ("prof", MARKED_CAUSE, None)
    (progress,) = marking.fields()
    assert (progress.waiting, progress.marked) == (1, 2)
    last = marking.next_waiting(progress.field, amy.id)
    assert last is not None
    assert last.student == "eve"
    assert store.upkeep.check().faults == ()


def test_an_answer_is_marked_again_and_marks_are_withdrawn(marking: RubricMarking, store: Store) -> None:
    marking.give([the_answer(marking, "eve")], FULL, by="prof", at=NOW)
    marking.give([the_answer(marking, "eve")], {"softmax": 0, "division": 0}, by="ta", at=NOW)
    marked = the_answer(marking, "eve")
    assert (marked.score, marked.attempt.report.score, marked.marks and marked.marks.by) == (0, 1.5, "ta")
    assert marking.withdraw([marked], by="prof", at=NOW) == []
    assert the_answer(marking, "eve").attempt.report.needs_person
    scores = [(change.old.score, change.new.score) for change in store.regrades.history(student="eve")]
    assert scores == [(None, 6.0), (6.0, 1.5), (1.5, None)]


def test_of_two_markers_at_once_the_first_counts(marking: RubricMarking) -> None:
    before = the_answer(marking, "eve")
    assert marking.give([before], FULL, by="prof", at=NOW) == []
    assert marking.give([before], {"softmax": 0, "division": 0}, by="ta", at=NOW) == [before]
    assert the_answer(marking, "eve").score == 3


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ({"softmax": 1}, "points are missing"),
        ({**FULL, "style": 1}, "no criterion 'style'"),
        ({"softmax": 0.3, "division": 2}, "0, 0.5 or 1"),
        ({"softmax": 1.5, "division": 2}, "can't be given"),
        ({"softmax": -0.5, "division": 2}, "can't be given"),
        ({"softmax": 1, "division": 1}, "0, 0.5 or 2"),
        ({"softmax": float("nan"), "division": 2}, "not a number"),
        ({"softmax": float("inf"), "division": 2}, "not a number"),
    ],
)
def test_points_that_cant_be_given_change_nothing(
    variant: Variant, tmp_path: Path, points: dict[str, float], message: str
) -> None:
    with open_store(tmp_path / "store.db") as store:
        hand_in(store, variant, "amy", "some words")
        marking = RubricMarking(store, Mode.MARKS, SECRET)
        with pytest.raises(UsageError) as refused:
            marking.give([the_answer(marking, "amy")], points, by="prof", at=NOW)
        assert message in "\n".join(refused.value.lines())
        assert the_answer(marking, "amy").marks is None


def test_handing_in_the_same_again_keeps_what_was_marked(
    marking: RubricMarking, store: Store, variant: Variant
) -> None:
    waiting = hand_in(store, variant, "eve", TEXTS["eve"])
    assert waiting.report.needs_person
    marking.give([the_answer(marking, "eve")], FULL, by="prof", at=NOW)
    assert hand_in(store, variant, "eve", TEXTS["eve"]).report.score == 6.0


def test_an_attempt_counts_while_it_waits_and_its_credit_holds_for_the_marks(
    store: Store, variant: Variant
) -> None:
    rules = QuizRules(attempts=2, credit=(1.0, 0.5))
    hand_in(store, variant, "amy", "first words", rules=rules)
    second = hand_in(store, variant, "amy", "second words", rules=rules)
    third = hand_in(store, variant, "amy", "third words", rules=rules)
    assert (second.report.credit, second.report.score) == (0.5, None)
    assert "This counts 50 % (attempt 2 of 2)." in second.report.notes
    # The third earns nothing in any case, so nobody has to read it.
    assert (third.report.score, third.report.needs_person, third.reason) == (0.0, False, None)
    marking = RubricMarking(store, Mode.MARKS, SECRET)
    (progress,) = marking.fields()
    assert progress.waiting == 2
    answers = {answer.text: answer for answer in marking.answers(progress.field)}
    marking.give([answers["second words"]], FULL, by="prof", at=NOW)
    (marked,) = [a for a in store.attempts(student="amy") if a.submission == second.submission]
    assert marked.report.score == 3.0
    assert "This counts 50 % (attempt 2 of 2)." in marked.report.notes


def test_criteria_say_which_points_can_be_given(variant: Variant) -> None:
    steps, levels = rubric_of(variant.parts[1])
    assert steps.choices == (0, 0.5, 1)
    assert levels.choices == (0, 0.5, 2)
    assert replace(steps, points=1.25).choices == (0, 0.5, 1, 1.25)
    assert replace(steps, points=50.0).offer == "0 to 50 in steps of 0.5"


def test_a_typo_keeps_marks_and_other_points_dont(variant: Variant, tmp_path: Path) -> None:
    (tmp_path / "same").mkdir()
    (tmp_path / "other").mkdir()
    reworded = item_variant(tmp_path / "same", ITEM.replace("Names softmax.", "Names the softmax."))
    other = item_variant(
        tmp_path / "other", ITEM.replace("Names softmax., points: 1", "Names softmax., points: 2")
    )
    assert rubric_digest(reworded.parts[1]) == rubric_digest(variant.parts[1])
    assert rubric_digest(other.parts[1]) != rubric_digest(variant.parts[1])


def test_an_answer_on_paper_waits_without_a_word_about_its_length(variant: Variant) -> None:
    """It is marked like any other; nobody has typed it, so no words are counted."""
    place = {"reason": "K7QF2MXA/12/3/reason"}
    response = Response({"total": "1", "reason": "on paper: copy 12, page 6"}, place)
    waiting = grade_answers(variant, response, mode=Mode.MARKS, student="ada", can_change=True)
    assert waiting.needs_person and waiting.score is None
    typed = grade_answers(
        variant, Response({"total": "1", "reason": "Scaled."}), mode=Mode.MARKS, student="ada"
    )
    assert [note for note in typed.notes if "word" in note], "a typed one is said to be too short"
    assert not [note for note in waiting.notes if "word" in note]
    # A part that a machine marks isn't taken for one that waits.
    machine = Response({"total": "", "reason": ""}, {"total": "K7QF2MXA/12/3/total"})
    assert grade_answers(variant, machine, mode=Mode.MARKS, student="ada").score == 0
