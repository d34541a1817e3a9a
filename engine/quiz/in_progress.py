"""A quiz that is being taken, in the terminal or on the site: what may be answered when.

Nothing prints or asks here; ``grade quiz take`` and the site do that, on an answer sheet of their own each.
Every number is read from the store when it is asked for: a student may work in two windows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Generic, TypeVar

from engine.crash_points import reached
from engine.errors import QuizError
from engine.items.bank import Bank
from engine.model import Mode, Quiz, QuizQuestion, QuizRules, Response, ResultDisclosure
from engine.quiz import rules as quiz_rules
from engine.quiz.answer_sheet import AnswerSheet, DraftSheet
from engine.quiz.hand_in import HandInResult, hand_in, read_answers
from engine.quiz.quiz_progress import (
    QuestionProgress,
    QuizSitting,
    has_other_variant,
    next_variant,
    sitting_of,
)
from engine.quiz.rules import deadline_text, is_choice
from engine.quiz.timing import SittingState, SittingTimes
from engine.store import Attempt, Store, response_sha256
from engine.store.drafts import DraftField, SavedDraft, SaveState
from engine.store.timed import NO_END, TimedSitting

Sheet = TypeVar("Sheet", bound=AnswerSheet)

_TRIES = 5  # windows of one student that hand in at the same moment as the end


class QuizInProgress(Generic[Sheet]):
    """One student's quiz, answered on a sheet.

    Parameters
    ----------
    store : Store
        That holds `quiz`; open as long as this object is used.
    quiz : Quiz
        As stored, with the student's extension and extra time in its rules.
    sheet : AnswerSheet
        Where the answers are.
    bank : Bank
    mode : Mode
    secret : callable
        Returns the secret from which further variants are drawn; called only for those.
    opens, closes : datetime, optional
        From when, and until when, the course's rules count work.
    """

    #: Whether an answer is refused of which no attempt is left, however late that shows.
    is_limited = False

    def __init__(
        self,
        store: Store,
        quiz: Quiz,
        sheet: Sheet,
        *,
        bank: Bank,
        mode: Mode,
        secret: Callable[[], bytes],
        opens: datetime | None = None,
        closes: datetime | None = None,
    ) -> None:
        self._store, self._bank, self._mode, self._secret = store, bank, mode, secret
        self.quiz, self.sheet = quiz, sheet
        self.times = SittingTimes.of(quiz.rules, opens=opens, closes=closes)
        self._timed_row: TimedSitting | None = None
        self._has_timed_row = False

    @property
    def rules(self) -> QuizRules:
        """The quiz's rules."""
        return self.quiz.rules

    @property
    def _timed(self) -> TimedSitting | None:
        # Not a cached_property: in Python 3.11 one lock guards the property of all objects, and all windows
        # of a class would wait for one another's reading.
        if not self._has_timed_row:
            self._timed_row, self._has_timed_row = self._store.timed.of_quiz(self.quiz), True
        return self._timed_row

    def _forget_timed(self) -> None:
        self._has_timed_row = False

    @property
    def state(self) -> SittingState:
        """Where the student is: not yet, ready, open or over; within the grace of the network it is open."""
        return self.times.state(self._timed, quiz_rules.now(), self.sheet.grace)

    @property
    def is_over(self) -> bool:
        """Whether the deadline or the time limit has passed, or the student has ended the sitting."""
        return self.state is SittingState.OVER

    @property
    def was_closed(self) -> bool:
        """Whether what was saved was handed in at an end: if the quiz is open, more time was given since."""
        return self._timed is not None and self._timed.ended is not None

    @property
    def ends(self) -> datetime | None:
        """The last moment at which an answer is taken, without grace; None where there is no end."""
        return self.times.ends_at(self._timed.started if self._timed else None)

    @property
    def seconds_left(self) -> int | None:
        """Seconds to the end, at least 0; None where there is no end."""
        return self.times.seconds_left(self._timed, quiz_rules.now())

    @property
    def shown_at(self) -> datetime:
        """The moment whose rules say what is shown: while answers are taken, nothing may tell them."""
        return quiz_rules.now() - self.sheet.grace

    @property
    def disclosure(self) -> ResultDisclosure:
        """How much is shown now of a result as a whole: no more than of any of its questions."""
        return quiz_rules.least_disclosure(self.quiz, self.shown_at)

    def disclosure_of(self, question: QuizQuestion) -> ResultDisclosure:
        """Return how much is shown now of the result of one question."""
        return question.disclosure(self.rules, self.shown_at)

    def sitting(self) -> QuizSitting:
        """Return where the student stands now."""
        return sitting_of(self._store, self.quiz, self._mode, self._bank, self.sheet.retries)

    def begin(self) -> None:
        """Begin a sitting with a time limit, once: later calls change nothing.

        Raises
        ------
        QuizError
            It isn't open yet, or not any more.
        """
        now = quiz_rules.now()
        if self.state in (SittingState.NOT_YET, SittingState.OVER):
            self.require_open()
        end = self.times.ends_at(now)
        if self.times.limit is not None and end is not None:
            self._store.timed.begin(self.quiz, now, end)
            self._forget_timed()

    def require_open(self) -> None:
        """Raise a :class:`QuizError` that says why no answer is taken now, unless one is."""
        state = self.state
        if state is SittingState.OPEN:
            return
        if state is SittingState.NOT_YET and self.times.opens is not None:
            raise QuizError(f"this quiz opens {deadline_text(self.times.opens)}", next_step="come back then")
        if state is SittingState.READY:
            raise QuizError("this quiz has a time limit and hasn't begun", next_step="begin it first")
        end, ended = self.ends, self._timed.ended if self._timed else None
        if self._timed and self._timed.ended_early and ended is not None:
            raise QuizError(
                f"you ended this quiz {deadline_text(ended)}", next_step="what you saved is handed in"
            )
        assert end is not None  # only what has an end is over
        raise QuizError(
            f"this quiz was open until {deadline_text(end)}",
            next_step="what was saved by then is handed in",
        )

    def answers(self, number: int) -> Mapping[str, str]:
        """Return the answers to a question, by part."""
        return self.sheet.answers(number)

    def is_blank(self, progress: QuestionProgress) -> bool:
        """Return whether a question has a part without an answer."""
        answers = self.answers(progress.question.number)
        return any(not answers.get(part.id, "").strip() for part in progress.question.variant.parts)

    def needs_variant(self, progress: QuestionProgress) -> bool:
        """Return whether the variant is answered, and another attempt needs a new one.

        Where there is none, numbers are worked out again: only options can be struck out.
        """
        variant = progress.question.variant
        answered = any(a.variant is not None and a.variant.id == variant.id for a in progress.attempts)
        is_new = self.rules.new_variants and progress.has_other_variant
        return answered and (is_new or is_choice(variant))

    def can_answer(self, progress: QuestionProgress) -> bool:
        """Return whether an answer to the variant as it is would be another attempt."""
        return progress.left > 0 and not self.needs_variant(progress)

    def take_hint(self, progress: QuestionProgress) -> QuestionProgress:
        """Record that the next hint is taken; only then it may be shown, or a crash would make it free."""
        number = progress.question.number
        self._store.sittings.take_hint(self.quiz, number, self._mode, progress.hints + 1)
        return self.sitting().progress[number]

    def not_handed_in(self) -> list[int]:
        """Return the questions whose answer isn't handed in yet."""
        numbers = []
        for number, progress in self.sitting().progress.items():
            variant = progress.question.variant
            texts = {part.id: self.answers(number).get(part.id, "") for part in variant.parts}
            # By hash, as the store finds it: the same texts again are the same attempt.
            sha = response_sha256(variant.id, Response(texts), self.quiz.id)
            attempt = self._store.graded(self.quiz.student, variant.item, sha, self._mode)
            if any(text.strip() for text in texts.values()) and attempt is None:
                numbers.append(number)
        return numbers

    def was_handed_in(self) -> bool:
        """Return whether anything was handed in before."""
        attempts = self._store.attempts(student=self.quiz.student, quiz=self.quiz.id, mode=self._mode)
        return next(attempts, None) is not None

    def hand_in(
        self,
        numbers: Collection[int] | None = None,
        *,
        keep_unreadable: bool = False,
        texts: Mapping[int, Mapping[str, str]] | None = None,
    ) -> HandInResult:
        """Hand in all answers as they are now, or those to some questions.

        Parameters
        ----------
        numbers : collection of int, optional
        keep_unreadable : bool
            Record it even if an answer can't be read.
        texts : mapping of int to mapping, optional
            As in :meth:`AnswerSheet.filled`.
        """
        return hand_in(
            self._store,
            self.quiz,
            self.sheet.filled(numbers, texts),
            mode=self._mode,
            filename=self.sheet.name,
            keep_unreadable=keep_unreadable,
            arrival=self.sheet.arrival(self.ends, quiz_rules.now()),
            is_limited=self.is_limited,
        )

    def note_end(self) -> None:
        """Record that a sitting which is over was handed in from its sheet: nothing is left to hand in."""
        if self._timed is not None and self._timed.handed is None and self.is_over:
            now = quiz_rules.now()
            self._store.timed.end([(self.quiz, self.ends or now)], now)
            self._store.timed.note_handed_in([self.quiz], now)
            self._forget_timed()

    def reopen(self, progress: QuestionProgress) -> bool:
        """Make a question ready for another attempt; False where it has no other variant."""
        question = next_variant(self._store, self._bank, self._secret(), self.quiz, progress)
        if question is None:
            return False
        self.sheet.reopen(question.number, question.retry)
        return True


class SiteQuiz(QuizInProgress[DraftSheet]):
    """A quiz on the site, where every call comes from a window that may be out of date.

    What is sent twice (a double click, the back button, a request repeated by the browser) counts once, and
    what comes too late is refused with a :class:`QuizError`; what was saved before isn't lost by either.
    """

    is_limited = True

    def save(self, fields: Sequence[DraftField]) -> list[SavedDraft]:
        """Save fields while the quiz is open, and say of each what became of it.

        After the end every field comes back as ``closed``, and so does one whose question takes no further
        answer: nobody is told that a text was taken which isn't.
        """
        if self.state is not SittingState.OPEN:
            return [SavedDraft(SaveState.CLOSED, field, None) for field in fields]
        if self.was_closed:
            # It was over, and its student was given more time.
            self._store.timed.reopen(self.quiz, self.last_end)
        closed = {number for number in {field.number for field in fields} if self._is_used_up(number)}
        saved = self.sheet.write(fields, now=quiz_rules.now(), ends=self.ends, closed=closed)
        if self._timed is None or self.was_closed:  # the row is added by the first save, or was reopened
            self._forget_timed()
        # Another window may have handed in the question between the look at its attempts and the save.
        return [
            replace(done, state=SaveState.CLOSED) if self._came_too_late(done) else done for done in saved
        ]

    def _came_too_late(self, done: SavedDraft) -> bool:
        """Return whether a text was saved that no attempt has and none can have."""
        is_written = done.draft is not None and done.draft.revision != done.field.revision
        if done.state is not SaveState.SAVED or not is_written or not self._is_used_up(done.field.number):
            return False
        # The same form sent twice has its text in an attempt, and a field that wasn't changed loses nothing.
        attempts = self.attempts_at(done.field.number)
        texts = {
            attempt.response.answers.get(done.field.part, "") for attempt in attempts if attempt.response
        }
        return done.field.text not in texts and done.field.text != (done.field.before or "")

    def left_over(self, progress: QuestionProgress) -> Mapping[str, str]:
        """Return what was saved of a question that is handed in with another text, where no attempt is left.

        A window may save while another one hands in. What the other window showed is what was handed in; the
        text that isn't must be told to its student.
        """
        if self.can_answer(progress):
            return {}
        variant, saved = progress.question.variant, self.answers(progress.question.number)
        texts = {part.id: saved.get(part.id, "") for part in variant.parts}
        alike = [a for a in progress.attempts if a.variant is not None and a.variant.id == variant.id]
        answers = [attempt.response.answers for attempt in alike if attempt.response]
        if not answers or any(all(a.get(part, "") == text for part, text in texts.items()) for a in answers):
            return {}
        last = answers[-1]
        return {part: text for part, text in texts.items() if text.strip() and text != last.get(part, "")}

    def attempts_at(self, number: int) -> list[Attempt]:
        """Return the attempts at one question that count, oldest first, without looking at the others."""
        question = next((q for q in self.quiz.questions if q.number == number), None)
        if question is None:
            return []
        item, student = question.variant.item, self.quiz.student
        # At most saves there is none yet.
        if not self._store.has_attempts(student, item, self._mode):
            return []
        attempts = list(self._store.attempts(student=student, item=item, mode=self._mode))
        ids = self._store.sittings.ids_alike(self.quiz, self._mode)
        return list(quiz_rules.counted_attempts([attempt for attempt in attempts if attempt.quiz in ids]))

    def _is_used_up(self, number: int) -> bool:
        """Return whether no answer to a question's variant would be another attempt.

        As :meth:`can_answer`, by one question's attempts alone: saving must cost little.
        """
        question = next((q for q in self.quiz.questions if q.number == number), None)
        counted = self.attempts_at(number)
        if question is None or not counted:
            return False
        if len(counted) >= (self.rules.attempts or 1):
            return True
        if not (self.rules.new_variants or is_choice(question.variant)):
            return False
        variant = self._store.sittings.variants(self.quiz, number)[self.sheet.retries.get(number, 0)]
        if all(attempt.variant is None or attempt.variant.id != variant.id for attempt in counted):
            return False
        return is_choice(variant) or has_other_variant(self._bank, variant, counted)

    def hint(self, number: int, hint: int) -> QuestionProgress:
        """Give a question's hint number `hint` (1 is the first); one that was given before costs nothing.

        Raises
        ------
        QuizError
            There is no such hint, an earlier one wasn't taken, or the quiz isn't open.
        """
        self.require_open()
        progress = self._progress(number)
        if hint <= progress.hints:
            return progress
        if self.rules.hint_cost is None or hint > len(progress.question.variant.hints):
            raise QuizError(f"question {number} has no hint {hint}", next_step="reload the page")
        if hint > progress.hints + 1:
            raise QuizError(f"hint {hint} comes after hint {hint - 1}", next_step="reload the page")
        return self.take_hint(progress)

    def hand_in(
        self,
        numbers: Collection[int] | None = None,
        *,
        keep_unreadable: bool = False,
        texts: Mapping[int, Mapping[str, str]] | None = None,
    ) -> HandInResult:
        """Hand in the saved answers to some questions, or to all; those without another attempt are left out.

        What is blank is left out too if the quiz has an end: until then it can still be answered, and isn't
        to be taken for wrong; :meth:`close` records it.

        Parameters
        ----------
        numbers : collection of int, optional
        keep_unreadable : bool
            Record it even if an answer can't be read.
        texts : mapping of int to mapping, optional
            What the form of a question carried: that is handed in, whatever another window has saved since.
            The newer text stays a draft.

        Raises
        ------
        QuizError
            The quiz isn't open.
        """
        self.require_open()
        return self._hand_in(
            numbers, keep_unreadable=keep_unreadable, with_blanks=self.ends is None, texts=texts or {}
        )

    def _hand_in(
        self,
        numbers: Collection[int] | None,
        *,
        keep_unreadable: bool,
        with_blanks: bool,
        texts: Mapping[int, Mapping[str, str]],
    ) -> HandInResult:
        possible = self._possible(numbers, with_blanks=with_blanks, texts=texts)
        return super().hand_in(possible, keep_unreadable=keep_unreadable, texts=texts)

    def _possible(
        self,
        numbers: Collection[int] | None,
        *,
        with_blanks: bool,
        texts: Mapping[int, Mapping[str, str]],
    ) -> list[int]:
        """Return the questions of `numbers`, or of all, whose answer would be another attempt."""
        progress = self.sitting().progress
        chosen = [n for n in (progress if numbers is None else numbers) if n in progress]
        entered = {n: "".join((texts.get(n) or self.answers(n)).values()).strip() for n in chosen}
        # An empty field after an earlier attempt is none: under a course's `which: last` it would undo that
        # one.
        return [
            n
            for n in chosen
            if self.can_answer(progress[n]) and (entered[n] or (with_blanks and not progress[n].attempts))
        ]

    def try_again(self, number: int) -> bool:
        """Open another attempt, with a new variant where the quiz or the question needs one.

        It returns False where none can be drawn.

        Raises
        ------
        QuizError
            The quiz isn't open, or no attempt is left.
        """
        self.require_open()
        progress = self._progress(number)
        if progress.left <= 0:
            raise QuizError(f"question {number} has no attempt left")
        if not self.needs_variant(progress):
            return True
        return self.reopen(progress) and not self.needs_variant(self._progress(number))

    def finish(self) -> HandInResult:
        """End the sitting for good: hand in everything, and take no more answers.

        An answer that can't be read keeps it open (``recorded`` is False), so that it can be corrected.
        """
        self.require_open()
        filled = self.sheet.filled(self._possible(None, with_blanks=False, texts={}))
        read = read_answers(self._store, self.quiz, filled, mode=self._mode)
        if read.is_unreadable:
            return read
        self._store.timed.begin(self.quiz, quiz_rules.now(), self.last_end)
        if self.was_closed:  # it was over, and its student was given more time
            self._store.timed.reopen(self.quiz, self.last_end)
        return self.close()

    def close(self) -> HandInResult:
        """Hand in what was saved, at the end of the sitting; what is there already isn't counted again.

        Killed at any moment and called again, it completes what is missing.
        """
        (result,) = close_all(self._store, [self])
        if isinstance(result, Exception):
            raise result
        return result

    def hand_in_saved(self) -> HandInResult:
        """Hand in what was saved in a sitting that has ended: what :func:`close_all` does for each."""
        reached("sitting-ended")
        result = self._hand_in_the_rest()
        reached("sitting-handed-in")
        return result

    def _hand_in_the_rest(self) -> HandInResult:
        for tries_left in reversed(range(_TRIES)):
            # Until then another window may have saved, and was told so.
            self.sheet.reload()
            try:
                return self._hand_in(None, keep_unreadable=True, with_blanks=True, texts={})
            except QuizError:  # another window has handed in one of them in between: the others remain
                if not tries_left:
                    raise
        raise AssertionError("the last try returns or raises")

    def close_if_over(self) -> bool:
        """Hand in what was saved if the end has passed and nobody has done so; return whether it was done."""
        sitting = self._timed
        if sitting is None or sitting.handed is not None or not self.is_over:
            return False
        self.close()
        return True

    @property
    def last_end(self) -> datetime:
        """When the sitting was to end, at the latest."""
        # A sitting without an end that its student ends was never to end: any later moment says so.
        return self.ends or NO_END

    def _progress(self, number: int) -> QuestionProgress:
        progress = self.sitting().progress.get(number)
        if progress is None:
            raise QuizError(f"this quiz has no question {number}", next_step="reload the page")
        return progress


def close_all(store: Store, sittings: Sequence[SiteQuiz]) -> list[HandInResult | Exception]:
    """End sittings and hand in what was saved; return what became of each, an error where it failed.

    All of them are ended in one transaction, and noted as handed in in another: each waits for the disk, and
    a class has its end in one second.
    """
    now = quiz_rules.now()
    store.timed.end([(sitting.quiz, sitting.last_end) for sitting in sittings], now)
    results: list[HandInResult | Exception] = []
    for sitting in sittings:
        sitting._forget_timed()
        try:
            results.append(sitting.hand_in_saved())
        except Exception as error:  # one answer that trips a fault of ours
            results.append(error)
    done = [s.quiz for s, result in zip(sittings, results, strict=True) if not isinstance(result, Exception)]
    store.timed.note_handed_in(done, now)
    for sitting in sittings:
        sitting._forget_timed()
    return results
