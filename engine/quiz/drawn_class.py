"""A class's quizzes of one name: drawn for whoever has none, stored, and what is worth knowing about them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean

from engine.errors import QuizError, UsageError
from engine.items.bank import Bank
from engine.model import Mode, Quiz
from engine.quiz.blueprint import PlacedBlueprint
from engine.quiz.compose import DrawingPlace, compose, on_this_machine
from engine.store import Store
from engine.text.words import clean_line

LINT_SEEDS = 10  # variants that are tried of items in a new quiz: enough to see a wrong key, and quick


def checked_quiz_name(name: str) -> str:
    """Return a quiz's name; refuse one that can't be a folder's."""
    if not name.strip(". ") or "/" in name or clean_line(name, 100) != name:
        raise UsageError(
            "this can't be the name of a quiz",
            expected="a word of at most 100 characters",
            got=repr(name[:120]),
            next_step="give it another one with --name",
        )
    return name


@dataclass(frozen=True)
class DrawnClass:
    """The quizzes of a class, as they are stored.

    Parameters
    ----------
    plan : PlacedBlueprint
    quizzes : tuple of Quiz
        One per student, in the order asked for.
    before : frozenset of (str, str)
        Id and student of those that were stored already.
    """

    plan: PlacedBlueprint
    quizzes: tuple[Quiz, ...]
    before: frozenset[tuple[str, str]]

    @cached_property
    def new(self) -> tuple[Quiz, ...]:
        """The quizzes that were drawn now."""
        return tuple(quiz for quiz in self.quizzes if (quiz.id, quiz.student) not in self.before)

    @property
    def is_of_another_plan(self) -> bool:
        """Whether they were drawn from another state of the blueprint, and stay so."""
        return any(quiz.plan not in ("", self.plan.fingerprint) for quiz in self.quizzes)

    @property
    def draws_from_bank(self) -> bool:
        """Whether items were chosen from the whole bank now, so that faulty files in it matter."""
        return any(section.draws for section in self.plan.blueprint.sections) and bool(self.new)

    def changed_items(self, bank: Bank) -> list[str]:
        """Return the items that were corrected since the older quizzes were drawn."""
        older = [quiz for quiz in self.quizzes if (quiz.id, quiz.student) in self.before]
        versions = dict.fromkeys((q.variant.item, q.variant.item_version) for z in older for q in z.questions)
        return list(dict.fromkeys(item for item, version in versions if bank.has_changed(item, version)))

    def course_items(self, bank: Bank, problems: Path) -> list[str]:
        """Return the items of the new quizzes that lie in a course's folder: the others are checked."""
        items = dict.fromkeys(question.variant.item for quiz in self.new for question in quiz.questions)
        return [item for item in items if bank.path(item).is_relative_to(problems)]


def draw_class(
    store: Store,
    bank: Bank,
    plan: PlacedBlueprint,
    students: Sequence[str],
    *,
    secret: bytes,
    name: str,
    mode: Mode,
    attempt: int = 0,
    progress: Callable[[], None] = lambda: None,
    place: DrawingPlace = on_this_machine,
) -> DrawnClass:
    """Draw and store the quizzes of a class in one transaction; what is stored already stays as it is.

    So it can be run again at any time: after it was stopped, or for students who came later.

    Parameters
    ----------
    store : Store
    bank : Bank
    plan : PlacedBlueprint
    students : sequence of str
    secret : bytes
        The course's.
    name : str
        Of the quiz.
    mode : Mode
    attempt : int
        Another attempt, another draw.
    progress : callable
        Called once for each student.
    place : callable
        Where variants are drawn, as for :func:`engine.quiz.compose`.

    Raises
    ------
    QuizError, engine.errors.DrawError
        As :func:`engine.quiz.compose`.
    """
    stored = store.quizzes(name)
    if mode is Mode.PRACTICE:  # there another attempt is another quiz, from the plan as it is
        stored = [quiz for quiz in stored if quiz.attempt == attempt]
    quizzes = compose(
        plan,
        bank,
        students,
        secret=secret,
        name=name,
        attempt=attempt,
        stored=stored,
        progress=progress,
        place=place,
    )
    store.save_quizzes(quizzes)
    before = frozenset((quiz.id, quiz.student) for quiz in stored)
    return DrawnClass(plan, tuple(quizzes), before)


def shares_before(store: Store, mode: Mode) -> dict[str, float]:
    """Return the mean share of the points earned at each item in a course before.

    Authors misjudge how hard an item is. Practice says nothing about it.
    """
    if mode is not Mode.MARKS:
        return {}
    shares: dict[str, list[float]] = {}
    for best in store.best_scores(Mode.MARKS):
        # An item worth nothing has no share.
        if best.max_score:
            shares.setdefault(best.item, []).append(best.score / best.max_score)
    return {item: fmean(earned) for item, earned in shares.items()}


def drawn_quizzes(store: Store, name: str, students: Collection[str] = ()) -> list[Quiz]:
    """Return the drawn quizzes of a name, those of some students or all.

    Raises
    ------
    QuizError
        None was drawn, or none for one of these students.
    """
    quizzes = [quiz for quiz in store.quizzes(name) if not students or quiz.student in students]
    # All or nothing: what is done for some of those named would be noticed too late.
    missing = sorted(set(students) - {quiz.student for quiz in quizzes})
    if not quizzes or missing:
        names = ", ".join(store.quiz_names()) or "none was drawn here"
        raise QuizError(
            f"quiz {name!r} was not drawn" + (f" for {', '.join(missing)}" if missing else ""),
            expected=f"a quiz that was drawn: {names}",
        )
    return quizzes
