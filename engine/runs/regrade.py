"""Finds out what a corrected item changes; nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from engine.batch import CodeGrader, Progress, column_of
from engine.errors import DrawError, EngineError, UnknownItemError
from engine.model import Mode, Outcome, Quiz, QuizQuestion, Variant
from engine.regrade.answers import AnswerMarker
from engine.regrade.changes import Change, RegradePlan, Rekeyed, Undecided
from engine.regrade.code import grade_again
from engine.runner import Runner
from engine.spec.bank import Bank
from engine.store import Attempt, Store

__all__ = ["Scope", "plan_regrade"]


@dataclass(frozen=True, slots=True)
class Scope:
    """What is looked at; everything where nothing is named.

    Parameters
    ----------
    items : collection of str
    quiz : str or None
        Name of a quiz.
    student : str or None
    everything : bool
        Also what was marked with the item as it is now.
    """

    items: Collection[str] = ()
    quiz: str | None = None
    student: str | None = None
    everything: bool = False


def plan_regrade(
    store: Store,
    bank: Bank,
    *,
    code: CodeGrader,
    open_runner: Callable[[int], AbstractContextManager[Runner]],
    mode: Mode,
    scope: Scope | None = None,
    workers: int = 1,
    progress: Progress = lambda total: nullcontext(lambda: None),
) -> RegradePlan:
    """Mark every attempt again whose item has changed since, and compare.

    Parameters
    ----------
    store : Store
    bank : Bank
        With the items as they are now.
    code : CodeGrader
    open_runner : callable
        Number of slots → Runner; called only if there is code to run.
    mode : Mode
    scope : Scope, optional
    workers : int
        Sandbox slots.
    progress : callable
        Number of code submissions → block whose value is called after each of them.

    Raises
    ------
    engine.errors.SpecError
        An item has faults.
    SandboxError
        The runner can't be opened.
    """
    search = _Search(store, bank, mode, scope or Scope())
    search.run()
    if search.code:
        slots = min(workers, len(search.code))
        with (
            open_runner(slots) as runner,
            progress(len(search.code)) as advance,
            ThreadPoolExecutor(slots) as threads,
        ):
            for _ in threads.map(lambda attempt: search.grade(attempt, code, runner), search.code):
                advance()
    changes = sorted(search.changes, key=lambda change: (change.old.student, change.column))
    return RegradePlan(
        changes=tuple(changes),
        undecided=tuple(search.undecided),
        rekeyed=tuple(search.rekeyed()),
        current=search.current,
        waiting=search.waiting,
    )


@dataclass
class _Search:
    store: Store
    bank: Bank
    mode: Mode
    scope: Scope
    changes: list[Change] = field(default_factory=list)
    undecided: list[Undecided] = field(default_factory=list)
    code: list[Attempt] = field(default_factory=list)
    current: int = 0
    waiting: int = 0
    _quizzes: dict[tuple[str, str], Quiz] = field(default_factory=dict)
    _versions: dict[str, str | None] = field(default_factory=dict)
    _earlier: dict[tuple[str, str, str], list[Attempt]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._answers = AnswerMarker(self.bank, self.store)
        self._by_hand = {
            place for place, mark in self.store.hand_marks.standing().items() if mark.score is not None
        }

    def run(self) -> None:
        """Go through all attempts once, oldest first."""
        self._quizzes = {
            (q.id, q.student): q for q in self.store.quizzes(self.scope.quiz, self.scope.student)
        }
        for attempt in self.store.attempts(student=self.scope.student, mode=self.mode):
            quiz = self._quizzes.get((attempt.quiz or "", attempt.student))
            if self._is_wanted(attempt.item) and (quiz is not None or self.scope.quiz is None):
                self._take(attempt, quiz)

    def _is_wanted(self, item: str) -> bool:
        return not self.scope.items or item in self.scope.items

    def _take(self, attempt: Attempt, quiz: Quiz | None) -> None:
        before = self._before(attempt, quiz)
        if attempt.report.outcome is Outcome.UNGRADED:
            self.waiting += 1
        elif attempt.variant is None and attempt.source is None:
            pass  # a file that couldn't even be read: no item makes that better
        elif not self._is_affected(attempt.item, attempt.report.item_version):
            self.current += 1
        elif self._version(attempt.item) is None:
            self._leave(attempt, "the bank has no item of this name any more")
        elif attempt.variant is None:
            self.code.append(attempt)
        else:
            attempt = self._marked(attempt, before, quiz)
        before.append(attempt)

    def _marked(self, attempt: Attempt, before: list[Attempt], quiz: Quiz | None) -> Attempt:
        try:
            new = self._answers.mark(attempt, before, quiz)
        except DrawError as error:
            self._leave(attempt, error.what)
            return attempt
        self._change(attempt, new)
        return new

    def grade(self, attempt: Attempt, code: CodeGrader, runner: Runner) -> None:
        """Grade a code attempt again; a fault of the machine leaves it as it is."""
        try:
            self._change(attempt, grade_again(attempt, code, runner))
        except EngineError as error:
            self._leave(attempt, f"it couldn't be graded now: {error.what}")

    def _before(self, attempt: Attempt, quiz: Quiz | None) -> list[Attempt]:
        """Return the list of the student's attempts at this question so far, where they count."""
        if quiz is None or not quiz.rules.counts_attempts:
            return []
        return self._earlier.setdefault((attempt.student, quiz.name, attempt.item), [])

    def _is_affected(self, item: str, version: str) -> bool:
        return self.scope.everything or version != self._version(item)

    def _version(self, item: str) -> str | None:
        if item not in self._versions:
            try:
                self._versions[item] = self.bank.version(item)
            except UnknownItemError:
                self._versions[item] = None
        return self._versions[item]

    def _column(self, attempt: Attempt) -> str:
        quiz = self._quizzes.get((attempt.quiz or "", attempt.student))
        return column_of(attempt, quiz, lambda item: item).id

    def _change(self, old: Attempt, new: Attempt) -> None:
        column = self._column(old)
        self.changes.append(Change(old, new, column, (old.student, column) in self._by_hand))

    def _leave(self, attempt: Attempt, why: str) -> None:
        self.undecided.append(Undecided(attempt, self._column(attempt), why))

    # --- quizzes that are out ---

    def rekeyed(self) -> Iterator[Rekeyed]:
        """Yield the quizzes in scope with the keys that hold now, where these differ."""
        for old in self._quizzes.values():
            questions = tuple(self._question(question) for question in old.questions)
            further = {
                (number, retry): variant
                for number in self.store.sittings.retries(old)
                for retry, variant in enumerate(self.store.sittings.variants(old, number))
                if retry
            }
            retries = tuple(
                (*place, new)
                for place, variant in further.items()
                if (new := self._variant(variant)) != variant
            )
            if questions != old.questions or retries:
                yield Rekeyed(old, replace(old, questions=questions), retries)

    def _question(self, question: QuizQuestion) -> QuizQuestion:
        return replace(question, variant=self._variant(question.variant))

    def _variant(self, variant: Variant) -> Variant:
        wanted = self._is_wanted(variant.item) and variant.item_version != self._version(variant.item)
        if not wanted or self._version(variant.item) is None:
            return variant
        try:
            return self._answers.rekeyed(variant)
        except DrawError:
            return variant  # told with its attempts; it goes on as it was handed out
