"""Mark stored work again after an item was corrected, and show what that changes before it is written.

:func:`plan_regrade` only looks: answers are marked with the keys that their items have now, code is run
again. :func:`apply_plan` writes the plan in one transaction, with the old reports as history. Quizzes that
students still have get the corrected keys too, so that what is handed in later is marked alike.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from engine.errors import DrawError, EngineError, UnknownItemError, UsageError
from engine.grading import grade_answers
from engine.items.bank import Bank
from engine.marks.class_table import column_of
from engine.marks.rubric_marking import RUBRIC_CAUSES, marked_attempt
from engine.model import CodeSubmission, GradeReport, Mode, Outcome, Quiz, QuizQuestion, Response, Variant
from engine.quiz.rules import CreditRules
from engine.runner import Runner, SandboxOptions
from engine.runs.batch import Progress
from engine.runs.code_exercises import CodeExercises
from engine.store import Attempt, Store, StoredRegrade, reason_of
from engine.variants import rekey


@dataclass(frozen=True, slots=True)
class RegradeChange:
    """One attempt as it is stored, and as the corrected item marks it.

    Parameters
    ----------
    old, new : Attempt
    column : str
        Of the gradebook.
    by_hand : bool
        A mark by hand overrides it, so the gradebook doesn't change.
    """

    old: Attempt
    new: Attempt
    column: str
    by_hand: bool = False

    @property
    def is_visible(self) -> bool:
        """Whether mark or outcome differ; otherwise only the item's version and the feedback do."""
        return _mark(self.old.report) != _mark(self.new.report)

    @property
    def unmarks(self) -> bool:
        """Whether a person must mark it again, because the rubric offers other points now."""
        return self.new.report.needs_person and not self.old.report.needs_person

    @property
    def keeps_marks(self) -> bool:
        """Whether what a person gave stays."""
        return bool(self.new.report.marking) and self.new.report.marking == self.old.report.marking

    @property
    def lowers(self) -> bool:
        """Whether the student would have fewer points, or none where there were some."""
        return (self.new.report.score or 0.0) < (self.old.report.score or 0.0)


def _mark(report: GradeReport) -> tuple[str, float | None, float]:
    return str(report.outcome), report.score, report.max_score


@dataclass(frozen=True, slots=True)
class UndecidedAttempt:
    """An attempt that a person must look at; its mark stays."""

    attempt: Attempt
    column: str
    why: str


@dataclass(frozen=True, slots=True)
class RekeyedQuiz:
    """A handed-out quiz, as stored and with the corrected keys.

    ``retries`` holds the corrected variants for later attempts: question number, retry, variant.
    """

    old: Quiz
    new: Quiz
    retries: tuple[tuple[int, int, Variant], ...] = ()


@dataclass(frozen=True, slots=True)
class RegradePlan:
    """All changes of one regrade, not written yet.

    Parameters
    ----------
    changes : tuple of RegradeChange
        By student and column.
    undecided : tuple of UndecidedAttempt
    rekeyed : tuple of RekeyedQuiz
        Quizzes whose keys change.
    current : int
        Attempts that were already marked with the item as it is.
    waiting : int
        Ungraded attempts, which `grade batch` tries again.
    spared : int
        Marks that would go down and stay, because nobody shall lose points by a correction.
    """

    changes: tuple[RegradeChange, ...] = ()
    undecided: tuple[UndecidedAttempt, ...] = ()
    rekeyed: tuple[RekeyedQuiz, ...] = ()
    current: int = 0
    waiting: int = 0
    spared: int = 0

    def never_lower(self) -> RegradePlan:
        """Return the plan without the changes by which somebody would lose points."""
        changes = tuple(change for change in self.changes if not change.lowers)
        return replace(self, changes=changes, spared=self.spared + len(self.changes) - len(changes))

    @property
    def visible(self) -> tuple[RegradeChange, ...]:
        """The changes of marks and outcomes."""
        return tuple(change for change in self.changes if change.is_visible)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.changes and not self.rekeyed


def apply_plan(store: Store, plan: RegradePlan, *, by: str, cause: str) -> tuple[str, list[Attempt]]:
    """Write a plan in one transaction.

    Parameters
    ----------
    store : Store
    plan : RegradePlan
    by : str
        Who regrades.
    cause : str
        Why, for the history.

    Returns
    -------
    (str, list of Attempt)
        Id of the run, and the attempts that changed since they were looked at, which are left alone.

    Raises
    ------
    StoreError
        Nothing was written.
    """
    # 48 bits: no two runs of a course share an id.
    run = secrets.token_hex(6)
    untouched = store.regrades.replace(
        [(change.old, change.new) for change in plan.changes],
        run=run,
        by=by,
        at=datetime.now(UTC),
        cause=cause,
        rekeyed=[(quiz.old, quiz.new, quiz.retries) for quiz in plan.rekeyed],
    )
    return run, untouched


def regrade_history(store: Store, student: str | None = None) -> list[StoredRegrade]:
    """Return what regrades have changed about marks and outcomes, oldest first."""
    # The same history has marks that people give by a rubric, and new feedback beside the same mark.
    return [
        change
        for change in store.regrades.history(student=student)
        if change.cause not in RUBRIC_CAUSES and _mark(change.old) != _mark(change.new)
    ]


class _AnswerMarker:
    """Marks stored answers with the keys that their items have now."""

    def __init__(self, bank: Bank, store: Store) -> None:
        self._bank = bank
        self._store = store
        # By variant: a class of 300 may share a few, and drawing one again takes milliseconds.
        self._rekeyed: dict[str, Variant | DrawError] = {}

    def rekeyed(self, variant: Variant) -> Variant:
        """Return a variant with its item's present keys; a DrawError says why there are none."""
        # Points too: two quizzes may give different points for the same variant.
        key = f"{variant.id} {variant.item_version} {variant.points}"
        if key not in self._rekeyed:
            try:
                self._rekeyed[key] = rekey(
                    self._bank.load(variant.item),
                    variant,
                    version=self._bank.version(variant.item),
                    registry=self._bank.registry(),
                )
            except DrawError as error:
                self._rekeyed[key] = error
        result = self._rekeyed[key]
        if isinstance(result, DrawError):
            raise result
        return result

    def mark(self, old: Attempt, earlier: Sequence[Attempt], quiz: Quiz | None) -> Attempt:
        """Return an attempt as it is marked now.

        Parameters
        ----------
        old : Attempt
            With its variant and response.
        earlier : sequence of Attempt
            The student's earlier attempts at the question, as they are marked now, oldest first.
        quiz : Quiz or None

        Raises
        ------
        DrawError
            The item no longer has a key for this variant.
        """
        assert old.variant is not None
        variant, now = self.rekeyed(old.variant), datetime.now(UTC)
        if old.report.outcome is Outcome.FORMAT_ERROR:
            response = old.response or Response({})
            fresh = grade_answers(variant, response, mode=old.report.mode, student=old.student)
            return self._first_marked(
                replace(old, variant=variant, report=fresh, finished=now), earlier, quiz
            )
        # What people gave stays, unless the rubric offers other points now.
        return marked_attempt(old, variant, old.report.marking, at=now)

    def _first_marked(self, new: Attempt, earlier: Sequence[Attempt], quiz: Quiz | None) -> Attempt:
        """Return an attempt that was unreadable before, with the credit that it earns now."""
        if quiz is not None and quiz.rules.counts_attempts:
            hints = self._store.sittings.hints(quiz, new.report.mode)
            new = CreditRules(quiz, hints)(new, earlier)
        return _with_report(new, new.report)


def _with_report(attempt: Attempt, report: GradeReport) -> Attempt:
    return replace(attempt, report=report, reason=reason_of(report))


def _program_of(old: Attempt) -> CodeSubmission:
    return CodeSubmission(old.source or "", old.filename, old.submission, modules=old.modules)


def _grade_again(old: Attempt, code: CodeExercises, runner: Runner) -> Attempt:
    """Return a code attempt as it is graded now."""
    report = code.grade(old.item, _program_of(old), runner, old.student)
    if report.outcome is Outcome.UNGRADED:
        raise EngineError("; ".join(report.notes) or "it couldn't be graded, and no reason was given")
    report = replace(report, student=old.student, mode=old.report.mode)
    return replace(old, report=report, reason=reason_of(report), finished=datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class RegradeScope:
    """Which attempts to look at; all of them by default.

    Parameters
    ----------
    items : collection of str
    quiz : str or None
        Name of a quiz.
    student : str or None
    everything : bool
        Also attempts that were marked with the item as it is now.
    """

    items: Collection[str] = ()
    quiz: str | None = None
    student: str | None = None
    everything: bool = False

    def check(self, store: Store) -> None:
        """Raise a :class:`UsageError` where the store has no such quiz or student."""
        quizzes = store.quiz_names()
        if self.quiz is not None and self.quiz not in quizzes:
            raise UsageError(
                "no quiz of this name was drawn",
                got=self.quiz,
                expected=", ".join(quizzes) or "there is none yet",
            )
        if self.student is not None and next(store.attempts(student=self.student), None) is None:
            raise UsageError("nothing is stored about this student", got=self.student)


def plan_regrade(
    store: Store,
    bank: Bank,
    *,
    code: CodeExercises,
    sandbox: SandboxOptions,
    mode: Mode,
    scope: RegradeScope | None = None,
    workers: int = 1,
    progress: Progress = lambda total: nullcontext(lambda: None),
) -> RegradePlan:
    """Mark every attempt again whose item has changed since, and compare.

    Parameters
    ----------
    store : Store
    bank : Bank
        With the items as they are now.
    code : CodeExercises
    sandbox : SandboxOptions
        Opened only if there is code to run.
    mode : Mode
    scope : RegradeScope, optional
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
    search = _RegradeSearch(store, bank, mode, scope or RegradeScope())
    search.run()
    if search.code:
        # A slot costs memory: no more of them than submissions.
        slots = min(workers, len(search.code))
        code.expect((a.student, a.item, _program_of(a)) for a in search.code)
        with (
            code.open_runner(sandbox, slots, (a.source or "" for a in search.code[:slots])) as runner,
            progress(len(search.code)) as advance,
            # Threads, because they only wait for the sandbox's processes.
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
class _RegradeSearch:
    """One pass over the attempts: what the corrected items change, collected as it goes."""

    store: Store
    bank: Bank
    mode: Mode
    scope: RegradeScope
    changes: list[RegradeChange] = field(default_factory=list)
    undecided: list[UndecidedAttempt] = field(default_factory=list)
    code: list[Attempt] = field(default_factory=list)
    current: int = 0
    waiting: int = 0
    _quizzes: dict[tuple[str, str], Quiz] = field(default_factory=dict)
    _versions: dict[str, str | None] = field(default_factory=dict)
    _earlier: dict[tuple[str, str, str], list[Attempt]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._answers = _AnswerMarker(self.bank, self.store)
        # A comment alone changes no mark.
        self._by_hand = {
            place for place, mark in self.store.hand_marks.current().items() if mark.score is not None
        }

    def run(self) -> None:
        """Go through all attempts once, oldest first."""
        self._quizzes = {
            (q.id, q.student): q for q in self.store.quizzes(self.scope.quiz, self.scope.student)
        }
        for attempt in self.store.attempts(student=self.scope.student, mode=self.mode):
            quiz = self._quizzes.get((attempt.quiz or "", attempt.student))
            if self._in_scope(attempt.item) and (quiz is not None or self.scope.quiz is None):
                self._look_at(attempt, quiz)

    def _in_scope(self, item: str) -> bool:
        return not self.scope.items or item in self.scope.items

    def _look_at(self, attempt: Attempt, quiz: Quiz | None) -> None:
        before = self._before(attempt, quiz)
        if attempt.report.outcome is Outcome.UNGRADED and not attempt.report.needs_person:
            self.waiting += 1
        elif attempt.variant is None and attempt.source is None:
            pass  # a file that couldn't be read: no correction of an item changes that
        elif not self.scope.everything and attempt.report.item_version == self._version(attempt.item):
            self.current += 1
        elif self._version(attempt.item) is None:
            self._leave(attempt, "the bank has no item of this name any more")
        elif attempt.variant is None:
            self.code.append(attempt)
        else:
            attempt = self._mark(attempt, before, quiz)
        # As it is marked now: later attempts at the question earn their credit after this one.
        before.append(attempt)

    def _mark(self, attempt: Attempt, before: list[Attempt], quiz: Quiz | None) -> Attempt:
        try:
            new = self._answers.mark(attempt, before, quiz)
        except DrawError as error:
            self._leave(attempt, error.what)
            return attempt
        self._change(attempt, new)
        return new

    def grade(self, attempt: Attempt, code: CodeExercises, runner: Runner) -> None:
        """Grade a code attempt again; a fault of the machine leaves it as it is."""
        try:
            self._change(attempt, _grade_again(attempt, code, runner))
        except EngineError as error:
            self._leave(attempt, f"it couldn't be graded now: {error.what}")

    def _before(self, attempt: Attempt, quiz: Quiz | None) -> list[Attempt]:
        """Return the list of the student's attempts at this question so far, if the quiz counts them."""
        if quiz is None or not quiz.rules.counts_attempts:
            return []
        return self._earlier.setdefault((attempt.student, quiz.name, attempt.item), [])

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
        self.changes.append(RegradeChange(old, new, column, (old.student, column) in self._by_hand))

    def _leave(self, attempt: Attempt, why: str) -> None:
        self.undecided.append(UndecidedAttempt(attempt, self._column(attempt), why))

    def rekeyed(self) -> Iterator[RekeyedQuiz]:
        """Yield the handed-out quizzes in scope whose keys differ now."""
        for old in self._quizzes.values():
            questions = tuple(self._question(question) for question in old.questions)
            later_variants = {
                (number, retry): variant
                for number in self.store.sittings.retries(old)
                for retry, variant in enumerate(self.store.sittings.variants(old, number))
                if retry  # 0 is the quiz's own variant
            }
            retries = tuple(
                (*place, new)
                for place, variant in later_variants.items()
                if (new := self._variant(variant)) != variant
            )
            if questions != old.questions or retries:
                yield RekeyedQuiz(old, replace(old, questions=questions), retries)

    def _question(self, question: QuizQuestion) -> QuizQuestion:
        return replace(question, variant=self._variant(question.variant))

    def _variant(self, variant: Variant) -> Variant:
        version = self._version(variant.item)
        if not self._in_scope(variant.item) or version in (None, variant.item_version):
            return variant
        try:
            return self._answers.rekeyed(variant)
        except DrawError:
            return variant  # reported with its attempts; the quiz goes on as it was handed out
