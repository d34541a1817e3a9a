"""A quiz on the site: time limits, two windows, the back button, and the end between two clicks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.course.policies import Policies
from engine.errors import QuizError, StoreError
from engine.marks.site_quizzes import hand_in_overdue, overdue_sittings, site_quiz
from engine.model import Mode, Quiz, QuizRules, ResultDisclosure
from engine.quiz import rules as quiz_rules
from engine.quiz.compose import ItemVariants, content
from engine.quiz.in_progress import SiteQuiz
from engine.quiz.timing import NETWORK_GRACE, SittingState
from engine.store import Store, open_store
from engine.store.drafts import DraftField
from tests.timing import clock_from
from tests.unit.quiz.test_credit import BANK, SECRET, key, quiz_with

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TIMED = QuizRules(time_limit=45, attempts=1, show_before=ResultDisclosure.FEEDBACK)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch):
    return clock_from(monkeypatch, NOW)


def taken(store: Store, rules: QuizRules, policies: Policies | None = None, name: str = "q") -> SiteQuiz:
    quiz = quiz_with(rules, name)
    if store.load_quiz(quiz.id, quiz.student) is None:
        store.save_quiz(quiz)
    return window(store, quiz, policies)


def window(store: Store, quiz: Quiz, policies: Policies | None = None) -> SiteQuiz:
    return site_quiz(store, quiz, policies or Policies(), bank=BANK, mode=Mode.MARKS, secret=lambda: SECRET)


def type_in(quiz: SiteQuiz, number: int, text: str, revision: int | None = None, retry: int | None = None):
    seen = quiz.sheet.revision(number, "answer") if revision is None else revision
    variant = quiz.sheet.retries.get(number, 0) if retry is None else retry
    (done,) = quiz.save([DraftField(number, "answer", text, seen, variant)])
    return str(done.state)


def wrong(quiz: Quiz) -> str:
    return ", ".join("9" * (key(quiz, 1).count(",") + 1))


def scores(store: Store) -> dict[str, float | None]:
    return {a.item: a.report.score for a in store.attempts(mode=Mode.MARKS)}


def test_answers_are_saved_and_handed_in(store: Store, at) -> None:
    quiz = taken(store, QuizRules())
    assert type_in(quiz, 1, key(quiz.quiz, 1)) == "saved"
    again = window(store, quiz.quiz)
    assert again.answers(1) == {"answer": key(quiz.quiz, 1)}
    assert again.not_handed_in() == [1]
    result = again.hand_in([1])
    assert result.recorded and [report.score for report in result.reports] == [2.0]
    assert again.not_handed_in() == []
    (attempt,) = store.attempts(mode=Mode.MARKS)
    assert attempt.handed == NOW


def test_handing_in_twice_counts_once(store: Store, at) -> None:
    """A double click, or the back button and a click: the same answer is the same attempt."""
    quiz = taken(store, QuizRules(attempts=2, credit=(1.0, 0.5)))
    type_in(quiz, 1, key(quiz.quiz, 1))
    quiz.hand_in([1])
    quiz.hand_in([1])
    window(store, quiz.quiz).hand_in([1])
    assert len(list(store.attempts(mode=Mode.MARKS))) == 1
    assert quiz.sitting().progress[1].left == 1


def test_a_choice_that_is_handed_in_is_not_taken_again(store: Store, at) -> None:
    quiz = taken(store, QuizRules(attempts=2))
    type_in(quiz, 2, "a")
    quiz.hand_in([2])
    type_in(quiz, 2, "b")
    result = quiz.hand_in([2])  # by a window that still shows the old options
    assert result.reports == ()
    assert len(list(store.attempts(mode=Mode.MARKS))) == 1
    assert quiz.needs_variant(quiz.sitting().progress[2])


def test_another_attempt_has_a_new_variant_and_an_old_window_cannot_answer_it(store: Store, at) -> None:
    quiz = taken(store, QuizRules(attempts=2, new_variants=True))
    type_in(quiz, 1, wrong(quiz.quiz))
    quiz.hand_in([1])
    assert quiz.try_again(1)
    assert quiz.answers(1) == {}
    assert type_in(quiz, 1, "for the first variant", revision=1, retry=0) == "closed"
    assert type_in(quiz, 1, "for the second") == "saved"
    assert quiz.try_again(1), "opened twice is opened once"
    assert len(store.sittings.variants(quiz.quiz, 1)) == 2


@pytest.mark.parametrize("is_known", [True, False])
def test_numbers_without_another_variant_are_answered_again(
    store: Store, at, is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiz = taken(store, QuizRules(attempts=2, new_variants=True))
    type_in(quiz, 1, wrong(quiz.quiz))
    quiz.hand_in([1])
    first = quiz.quiz.questions[0].variant
    monkeypatch.setattr(ItemVariants, "_draw", lambda *_: (first, content(first)))
    if not is_known:
        # The item doesn't say that it has one variant: only drawing shows it, and then the student is told.
        assert quiz.needs_variant(quiz.sitting().progress[1])
        assert not quiz.try_again(1)
        return
    load = BANK.load
    monkeypatch.setattr(BANK, "load", lambda item: load(item).model_copy(update={"variants": 1}))
    assert quiz.can_answer(quiz.sitting().progress[1])
    assert quiz.try_again(1)
    assert type_in(quiz, 1, key(quiz.quiz, 1)) == "saved"
    assert quiz.hand_in([1]).recorded
    assert len(list(store.attempts(mode=Mode.MARKS))) == 2
    assert not quiz.can_answer(quiz.sitting().progress[1])


def test_no_attempt_after_the_last(store: Store, at) -> None:
    quiz = taken(store, QuizRules(attempts=1))
    type_in(quiz, 1, wrong(quiz.quiz))
    quiz.hand_in()
    with pytest.raises(QuizError, match="no attempt left"):
        quiz.try_again(1)


def test_hints_are_taken_in_order_and_once(store: Store, at) -> None:
    quiz = taken(store, QuizRules(hint_cost=0.1))
    hints = len(quiz.quiz.questions[0].variant.hints)
    with pytest.raises(QuizError, match="comes after"):
        quiz.hint(1, 2)
    assert quiz.hint(1, 1).hints == quiz.hint(1, 1).hints == 1
    with pytest.raises(QuizError, match="no hint"):
        quiz.hint(1, hints + 1)


def test_an_answer_that_cannot_be_read_records_nothing(store: Store, at) -> None:
    quiz = taken(store, TIMED)
    quiz.begin()
    type_in(quiz, 1, "not a number")
    result = quiz.finish()
    assert not result.recorded and not list(store.attempts())
    assert quiz.state is SittingState.OPEN


def test_foreign_fields_are_refused_and_nothing_is_saved(store: Store, at) -> None:
    quiz = taken(store, QuizRules())
    good = DraftField(1, "answer", "1", 0)
    for bad in (DraftField(9, "answer", "x", 0), DraftField(1, "other", "x", 0), good):
        with pytest.raises(QuizError):
            quiz.save([good, bad])
    with pytest.raises(QuizError, match="too long"):
        quiz.save([DraftField(1, "answer", "x" * 1_000_000, 0)])
    assert store.drafts.of_quiz(quiz.quiz) == []


# --- time ---


def test_a_time_limit_runs_from_the_beginning(store: Store, at) -> None:
    quiz = taken(store, TIMED)
    assert quiz.state is SittingState.READY
    assert type_in(quiz, 1, "1") == "closed", "nothing is taken before it has begun"
    quiz.begin()
    assert (quiz.state, quiz.ends, quiz.seconds_left) == (SittingState.OPEN, NOW + 45 * MINUTE, 45 * 60)
    at(NOW + 10 * MINUTE)
    second = window(store, quiz.quiz)
    second.begin()
    assert second.seconds_left == 35 * 60, "a second window gets the same sitting"


def test_an_answer_after_the_end_is_not_taken(store: Store, at) -> None:
    quiz = taken(store, TIMED)
    quiz.begin()
    assert type_in(quiz, 1, key(quiz.quiz, 1)) == "saved"
    at(NOW + 45 * MINUTE + NETWORK_GRACE)
    assert type_in(quiz, 2, key(quiz.quiz, 2)) == "saved", "sent in time, arrived a little later"
    at(NOW + 46 * MINUTE)
    assert quiz.state is SittingState.OVER
    assert type_in(quiz, 1, "1") == "closed"
    with pytest.raises(QuizError, match="was open until Mon 2 Nov 2026, 09:45 UTC"):
        quiz.hand_in()
    with pytest.raises(QuizError):
        quiz.hint(1, 1)
    assert quiz.close_if_over()
    assert set(scores(store).values()) == {2.0}, "what was saved in time counts"
    assert not quiz.close_if_over()
    (handed,) = {attempt.handed for attempt in store.attempts()}
    assert handed is not None and handed < NOW + 45 * MINUTE, "nothing is late by the grace of the network"


def test_the_server_hands_in_what_was_saved(store: Store, at) -> None:
    quiz = taken(store, TIMED)
    quiz.begin()
    at(NOW + MINUTE)
    type_in(quiz, 1, key(quiz.quiz, 1))
    end = NOW + 45 * MINUTE + NETWORK_GRACE
    assert list(overdue_sittings(store, Policies(), end)) == []
    at(end + MINUTE)
    more = {"bank": BANK, "mode": Mode.MARKS, "secret": lambda: SECRET}
    (done,) = hand_in_overdue(store, Policies(), end + MINUTE, **more)
    assert done[0].end == NOW + 45 * MINUTE
    assert sorted(scores(store).values()) == [0.0, 2.0]
    assert [a.handed for a in store.attempts()] == [NOW + MINUTE] * 2, (
        "when it was saved, not when the server came"
    )
    assert list(hand_in_overdue(store, Policies(), end + MINUTE, **more)) == []


def test_a_quiz_with_a_deadline_alone_is_handed_in_at_it(store: Store, at) -> None:
    quiz = taken(store, QuizRules(deadline=NOW + 60 * MINUTE))
    type_in(quiz, 1, key(quiz.quiz, 1))
    at(NOW + 61 * MINUTE)
    more = {"bank": BANK, "mode": Mode.MARKS, "secret": lambda: SECRET}
    assert len(list(hand_in_overdue(store, Policies(), NOW + 61 * MINUTE, **more))) == 1
    assert scores(store)["softmax-weights"] == 2.0


def test_the_deadline_ends_a_sitting(store: Store, at) -> None:
    quiz = taken(store, replace(TIMED, deadline=NOW + 20 * MINUTE))
    quiz.begin()
    assert quiz.ends == NOW + 20 * MINUTE


def test_extra_time_counts_at_once(store: Store, at) -> None:
    quiz = taken(store, TIMED)
    quiz.begin()
    more = Policies.model_validate({"extra_time": [{"student": "ada", "percent": 20}]})
    assert window(store, quiz.quiz, more).ends == NOW + 54 * MINUTE
    at(NOW + 50 * MINUTE)
    assert list(overdue_sittings(store, more, NOW + 50 * MINUTE)) == []
    assert len(list(overdue_sittings(store, Policies(), NOW + 50 * MINUTE))) == 1


@pytest.mark.parametrize("types_more", [True, False])
def test_more_time_reopens_what_ended_by_itself_but_not_what_the_student_ended(
    store: Store, at, types_more: bool
) -> None:
    more = Policies.model_validate({"extra_time": [{"student": "ada", "percent": 100}]})
    quiz = taken(store, replace(TIMED, attempts=2))
    quiz.begin()
    at(NOW + 50 * MINUTE)
    assert quiz.close_if_over()
    longer = window(store, quiz.quiz, more)
    assert longer.state is SittingState.OPEN
    if types_more:
        assert type_in(longer, 1, wrong(quiz.quiz)) == "saved"
    assert longer.finish().recorded
    assert window(store, quiz.quiz, more).state is SittingState.OVER
    with pytest.raises(QuizError, match="you ended this quiz"):
        window(store, quiz.quiz, more).hand_in()


def test_the_course_opens_and_closes_a_quiz(store: Store, at) -> None:
    policies = Policies.model_validate(
        {"assignments": {"q": {"opens": "2026-11-02T09:30", "closes": "2026-11-02T10:00"}}}
    )
    quiz = taken(store, QuizRules(), policies)
    assert quiz.state is SittingState.NOT_YET
    with pytest.raises(QuizError, match="opens Mon 2 Nov 2026, 09:30 UTC"):
        quiz.hand_in()
    at(NOW + 30 * MINUTE)
    assert quiz.state is SittingState.OPEN
    at(NOW + 62 * MINUTE)
    assert quiz.state is SittingState.OVER


def test_an_empty_field_does_not_undo_an_earlier_attempt(store: Store, at) -> None:
    quiz = taken(store, QuizRules(attempts=2, deadline=NOW + MINUTE))
    type_in(quiz, 2, key(quiz.quiz, 2))
    quiz.hand_in([2])
    quiz.try_again(2)
    at(NOW + 2 * MINUTE)
    assert quiz.close_if_over()
    assert len([a for a in store.attempts() if a.item == quiz.quiz.questions[1].variant.item]) == 1


def test_a_first_answer_within_the_grace_makes_a_sound_row(store: Store, at) -> None:
    quiz = taken(store, QuizRules(deadline=NOW))
    at(NOW + timedelta(seconds=5))
    assert type_in(quiz, 1, key(quiz.quiz, 1)) == "saved"
    assert store.upkeep.check().faults == ()
    at(NOW + timedelta(seconds=11))
    assert quiz.close_if_over()
    assert {a.handed for a in store.attempts() if not a.is_blank} == {NOW - timedelta(microseconds=1)}


def test_a_killed_server_completes_what_it_began(store: Store, at) -> None:
    """Ended but not handed in, and handed in but not noted: both are found, and nothing counts twice."""
    quiz = taken(store, TIMED)
    quiz.begin()
    type_in(quiz, 1, key(quiz.quiz, 1))
    at(NOW + 50 * MINUTE)
    store.timed.end([(quiz.quiz, NOW + 45 * MINUTE)], NOW + 50 * MINUTE)
    more = {"bank": BANK, "mode": Mode.MARKS, "secret": lambda: SECRET}
    assert len(list(hand_in_overdue(store, Policies(), NOW + 50 * MINUTE, **more))) == 1
    before = list(store.attempts())
    store.timed.reopen(quiz.quiz, NOW + 45 * MINUTE)
    assert len(list(hand_in_overdue(store, Policies(), NOW + 50 * MINUTE, **more))) == 1
    assert list(store.attempts()) == before


def test_nothing_is_shown_before_the_course_releases_it(store: Store, at) -> None:
    policies = Policies.model_validate({"assignments": {"q": {"release": "2026-11-05"}}})
    quiz = taken(store, QuizRules(show_before=ResultDisclosure.SOLUTION), policies)
    question = quiz.quiz.questions[0]
    assert quiz.disclosure is quiz.disclosure_of(question) is ResultDisclosure.NOTHING
    at(NOW + timedelta(days=4))
    later = window(store, quiz.quiz, policies)
    assert later.disclosure is later.disclosure_of(question) is ResultDisclosure.SOLUTION


# --- nothing that was called saved is lost ---


def close_all(store: Store, moment: datetime, policies: Policies | None = None):
    more = {"bank": BANK, "mode": Mode.MARKS, "secret": lambda: SECRET}
    return list(hand_in_overdue(store, policies or Policies(), moment, **more))


@pytest.mark.parametrize("kind", ["deadline", "closes"])
def test_an_end_that_is_set_after_the_first_answer_hands_it_in(store: Store, at, kind: str) -> None:
    quiz = taken(store, QuizRules())
    assert type_in(quiz, 1, key(quiz.quiz, 1)) == "saved"
    policies = Policies()
    if kind == "deadline":
        store.sittings.move_deadline("q", NOW + 20 * MINUTE)
    else:
        policies = Policies.model_validate({"assignments": {"q": {"closes": "2026-11-02T09:20"}}})
    assert close_all(store, NOW + 19 * MINUTE, policies) == []
    at(NOW + 40 * MINUTE)
    assert len(close_all(store, NOW + 40 * MINUTE, policies)) == 1
    assert scores(store)["softmax-weights"] == 2.0
    assert store.upkeep.check().faults == ()


def test_a_sitting_goes_on_where_its_end_is_taken_away(store: Store, at) -> None:
    quiz = taken(store, QuizRules(deadline=NOW + MINUTE))
    type_in(quiz, 1, wrong(quiz.quiz))
    at(NOW + 2 * MINUTE)
    assert quiz.close_if_over()
    ((_, moved),) = store.sittings.move_deadline("q", None)
    endless = window(store, moved)
    assert endless.state is SittingState.OPEN
    assert type_in(endless, 2, "a") == "saved"


def test_what_is_saved_while_the_sitting_is_ended_is_handed_in(store: Store, at, monkeypatch) -> None:
    quiz = taken(store, TIMED)
    quiz.begin()
    type_in(quiz, 1, key(quiz.quiz, 1))
    states: list[str] = []
    begin = store.timed.begin

    def save_meanwhile(*arguments: object):
        states.append(type_in(window(store, quiz.quiz), 2, key(quiz.quiz, 2)))
        return begin(*arguments)

    monkeypatch.setattr(store.timed, "begin", save_meanwhile)
    assert quiz.finish().recorded
    assert states == ["saved"]
    assert sorted(scores(store).values()) == [2.0, 2.0]
    assert type_in(window(store, quiz.quiz), 2, "a") == "closed"


def test_a_window_that_saves_late_does_not_undo_the_end(store: Store, at) -> None:
    quiz = taken(store, TIMED)
    quiz.begin()
    at(NOW + MINUTE)
    assert quiz.finish().recorded
    store.timed.reopen(quiz.quiz, NOW + 90 * MINUTE)
    assert window(store, quiz.quiz).state is SittingState.OVER


def test_no_text_is_saved_where_no_attempt_is_left(store: Store, at) -> None:
    quiz = taken(store, QuizRules(attempts=1))
    type_in(quiz, 1, wrong(quiz.quiz))
    other = window(store, quiz.quiz)
    seen = other.sheet.revision(1, "answer")
    quiz.hand_in([1])
    assert type_in(other, 1, key(quiz.quiz, 1), revision=seen) == "closed"
    assert type_in(other, 1, wrong(quiz.quiz), revision=0) == "saved", "sent twice: it is there, and counts"
    assert type_in(other, 2, "a") == "saved", "the other question is open"


def test_no_text_is_saved_for_an_answered_choice(store: Store, at) -> None:
    quiz = taken(store, QuizRules(attempts=2))
    type_in(quiz, 2, "a")
    quiz.hand_in([2])
    assert type_in(quiz, 2, "b") == "closed"
    assert quiz.try_again(2)
    assert type_in(quiz, 2, "b") == "saved"


def test_more_time_after_the_end_gives_no_further_attempt(store: Store, at) -> None:
    """What was handed in at the end counts as an attempt; what was blank then can be answered."""
    quiz = taken(store, replace(TIMED, attempts=1))
    quiz.begin()
    type_in(quiz, 1, wrong(quiz.quiz))
    at(NOW + 50 * MINUTE)
    assert quiz.close_if_over()
    more = Policies.model_validate({"extra_time": [{"student": "ada", "percent": 100}]})
    longer = window(store, quiz.quiz, more)
    assert type_in(longer, 1, key(quiz.quiz, 1)) == "closed"
    assert type_in(longer, 2, key(quiz.quiz, 2)) == "saved"
    at(NOW + 100 * MINUTE)
    close_all(store, NOW + 100 * MINUTE, more)
    assert scores(store) == {"softmax-weights": 0.0, quiz.quiz.questions[1].variant.item: 2.0}


def test_a_fault_of_ours_in_one_sitting_keeps_no_other_waiting(store: Store, at, monkeypatch) -> None:
    first, second = (taken(store, QuizRules(deadline=NOW + MINUTE), name=name) for name in ("q", "r"))
    for quiz in (first, second):
        type_in(quiz, 1, key(quiz.quiz, 1))
    hand_in_saved = SiteQuiz.hand_in_saved

    def fails(self: SiteQuiz):
        return {}["nothing"] if self.quiz.name == "q" else hand_in_saved(self)

    monkeypatch.setattr(SiteQuiz, "hand_in_saved", fails)
    at(NOW + 2 * MINUTE)
    results = {overdue.quiz.name: result for overdue, result in close_all(store, NOW + 2 * MINUTE)}
    assert "a fault of Softmark: KeyError" in str(results["q"])
    assert results["r"].recorded
    monkeypatch.undo()
    monkeypatch.setattr(quiz_rules, "now", lambda: NOW + 2 * MINUTE)
    assert [overdue.quiz.name for overdue, _ in close_all(store, NOW + 2 * MINUTE)] == ["q"]


def test_a_damaged_quiz_keeps_no_other_from_its_end(store: Store, at, monkeypatch) -> None:
    first, second = (taken(store, QuizRules(deadline=NOW + MINUTE), name=name) for name in ("q", "r"))
    for quiz in (first, second):
        type_in(quiz, 1, key(quiz.quiz, 1))
    load = store.load_quiz

    def fails(quiz_id: str, student: str):
        if quiz_id == first.quiz.id:
            raise StoreError("this quiz can't be read")
        return load(quiz_id, student)

    monkeypatch.setattr(store, "load_quiz", fails)
    at(NOW + 2 * MINUTE)
    with pytest.raises(StoreError, match="can't be read"):
        close_all(store, NOW + 2 * MINUTE)
    assert {attempt.quiz for attempt in store.attempts()} == {second.quiz.id}


def test_a_hand_in_records_what_its_form_carried(store: Store, at, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save between the reading of the answers and the recording: the newer text stays a draft."""
    quiz = taken(store, QuizRules(attempts=2))
    type_in(quiz, 1, wrong(quiz.quiz))
    other, record = window(store, quiz.quiz), store.record_quiz

    def record_later(*details: Any, **more: Any) -> Any:
        assert type_in(other, 1, key(quiz.quiz, 1)) == "saved"
        return record(*details, **more)

    monkeypatch.setattr(store, "record_quiz", record_later)
    assert quiz.hand_in([1], texts={1: {"answer": wrong(quiz.quiz)}}).recorded
    monkeypatch.undo()
    at(NOW)
    (attempt,) = store.attempts(mode=Mode.MARKS)
    assert attempt.response.answers == {"answer": wrong(quiz.quiz)}
    after = window(store, quiz.quiz)
    assert after.answers(1) == {"answer": key(quiz.quiz, 1)}
    assert after.not_handed_in() == [1]
    # Whatever was saved since, the form alone says what is handed in.
    after.hand_in([1], texts={1: {"answer": f" {wrong(quiz.quiz)}"}})
    assert [a.response.answers["answer"] for a in store.attempts(mode=Mode.MARKS)][
        -1
    ] == f" {wrong(quiz.quiz)}"


def test_a_text_that_cannot_be_handed_in_any_more_is_told(
    store: Store, at, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiz = taken(store, QuizRules(attempts=1))
    type_in(quiz, 1, wrong(quiz.quiz))
    assert quiz.left_over(quiz.sitting().progress[1]) == {}
    other, record = window(store, quiz.quiz), store.record_quiz

    def record_later(*details: Any, **more: Any) -> Any:
        assert type_in(other, 1, key(quiz.quiz, 1)) == "saved"
        return record(*details, **more)

    monkeypatch.setattr(store, "record_quiz", record_later)
    quiz.hand_in([1])
    after = window(store, quiz.quiz)
    assert after.left_over(after.sitting().progress[1]) == {"answer": key(quiz.quiz, 1)}


def test_a_save_that_a_hand_in_has_overtaken_is_not_called_saved(
    store: Store, at, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiz = taken(store, QuizRules(attempts=1))
    type_in(quiz, 1, wrong(quiz.quiz))
    other, save = window(store, quiz.quiz), store.drafts.save

    def save_later(*details: Any, **more: Any) -> Any:
        monkeypatch.undo()
        at(NOW)
        assert quiz.hand_in([1]).recorded
        return save(*details, **more)

    seen = other.sheet.revision(1, "answer")
    monkeypatch.setattr(store.drafts, "save", save_later)
    assert type_in(other, 1, key(quiz.quiz, 1), revision=seen) == "closed"
    after = window(store, quiz.quiz)
    assert after.left_over(after.sitting().progress[1]) == {"answer": key(quiz.quiz, 1)}
    # The same text again is no loss.
    assert type_in(after, 1, wrong(quiz.quiz)) == "closed"


@pytest.mark.parametrize("attempts", [1, 50])
def test_no_text_is_lost_between_two_windows_that_save_and_hand_in(store: Store, attempts: int) -> None:
    """Whatever their order: what was said to be saved is handed in, a draft, or told as left over."""
    quiz = taken(store, QuizRules(attempts=attempts)).quiz
    places = key(quiz, 1).count(",") + 1
    tried: list[str] = []
    told: list[str] = []
    carried: list[str] = []
    start = threading.Barrier(2)

    def write() -> None:
        start.wait()
        for number in range(25):
            text = ", ".join([f"{number}.5"] * places)
            tried.append(text)
            if type_in(window(store, quiz), 1, text) == "saved":
                told.append(text)

    def give() -> None:
        start.wait()
        while writer.is_alive():
            mine = window(store, quiz)
            text = dict(mine.answers(1))
            is_open = any(text.values()) and mine.can_answer(mine.sitting().progress[1])
            if is_open and mine.hand_in([1], texts={1: text}).reports:
                carried.append(text["answer"])

    writer, giver = threading.Thread(target=write), threading.Thread(target=give)
    for thread in (writer, giver):
        thread.start()
    for thread in (writer, giver):
        thread.join()
    after = window(store, quiz)
    recorded = [a.response.answers["answer"] for a in store.attempts(mode=Mode.MARKS) if a.response]
    assert list(dict.fromkeys(carried)) == recorded
    # Of texts that were saved over one another, the last is the one that its student means.
    last, kept, progress = told[-1], after.answers(1)["answer"], after.sitting().progress[1]
    is_told = after.can_answer(progress) or after.left_over(progress) == {"answer": kept}
    assert last in recorded or (tried.index(kept) >= tried.index(last) and is_told)
