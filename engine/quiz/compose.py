"""One quiz per student: the same items for all, each student's own variants.

No two students get the same numbers before an item's variants are used up, so that an answer can't be copied.
What was drawn is stored with its keys, and whoever comes later gets the same items: a plan or an item that is
changed in between changes nobody's quiz.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from engine.draws import draw_key
from engine.errors import QuizError
from engine.items import ProblemSpec
from engine.items.bank import Bank
from engine.model import Quiz, QuizExercise, QuizQuestion, Variant
from engine.parallel import on_all_cores
from engine.quiz.blueprint import PlacedBlueprint
from engine.quiz.choose import ChosenQuestion, ItemChoice, choose_items
from engine.variants import draw

LARGE_CLASS = 400
"""Fewer questions than this, over the whole class, are drawn sooner than processes start."""


@dataclass(frozen=True, slots=True)
class ClassDraws:
    """The first draw of every question of a class: none needs another one, so they can be made anywhere.

    Parameters
    ----------
    keys : sequence of (str, str)
        Student and item.
    draw : callable
        Draws the variant of a key here, and returns it with the hash of its content.
    seed : callable
        Returns the 32 bytes that the variant of a key is drawn from. They tell nothing about other variants,
        the student or the course's secret.
    """

    keys: Sequence[tuple[str, str]]
    draw: Callable[[tuple[str, str]], tuple[Variant, str]]
    seed: Callable[[tuple[str, str]], bytes]


DrawingPlace = Callable[[ClassDraws], Mapping[tuple[str, str], tuple[Variant, str]]]
"""Draws what it can of a class, with the results of :attr:`ClassDraws.draw`; the rest is drawn afterwards."""


def on_this_machine(draws: ClassDraws) -> Mapping[tuple[str, str], tuple[Variant, str]]:
    """Draw a large class on all cores; nothing of a small one."""
    return on_all_cores(draws.draw, draws.keys, least=LARGE_CLASS)


def quiz_id(secret: bytes, name: str, student: str, attempt: int) -> str:
    """Return the id that the student's file carries: it says nothing about the draw."""
    # With a separator, so that ("a", "bc") and ("ab", "c") differ.
    message = "\x1f".join(["quiz", name, student, str(attempt)]).encode()
    # 80 bits: no two quizzes of a course share an id, and nobody guesses a classmate's.
    return hmac.new(secret, message, hashlib.sha256).hexdigest()[:20]


def compose(
    plan: PlacedBlueprint,
    bank: Bank,
    students: Sequence[str],
    *,
    secret: bytes,
    name: str,
    attempt: int = 0,
    stored: Sequence[Quiz] = (),
    progress: Callable[[], None] = lambda: None,
    place: DrawingPlace = on_this_machine,
) -> list[Quiz]:
    """Draw one quiz per student: the same items, each student's own variant.

    Parameters
    ----------
    plan : PlacedBlueprint
    bank : Bank
    students : sequence of str
        Student ids.
    secret : bytes
        The course secret.
    name : str
        Name of the quiz; part of every seed, so two quizzes draw apart.
    attempt : int
        Another attempt is another draw.
    stored : sequence of Quiz
        What was drawn under this name before. It stays as it is, whatever became of plan and items; who
        comes later gets the same items for the same points, under the same rules.
    progress : callable
        Called once for each student's quiz.
    place : callable
        Where variants are drawn; the quizzes are the same wherever that is.

    Returns
    -------
    list of Quiz
        With keys: for the store, never for a student.

    Raises
    ------
    QuizError
        As :func:`engine.quiz.choose_items`.
    engine.errors.DrawError
        As :func:`engine.variants.draw`.
    """
    drawn_before = {quiz.student: quiz for quiz in stored if quiz.attempt == attempt}
    first = next(iter(stored), None)
    # One student's deadline may have been moved: whoever comes later gets the rules that most have.
    counts = Counter(quiz.rules for quiz in stored)
    planned = plan.blueprint.rules
    usual = max(counts, key=lambda rules: (counts[rules], rules == planned), default=planned)
    choices: dict[str, list[ChosenQuestion]] = {}
    if newcomers := [student for student in students if student not in drawn_before]:
        questions_of = _questions(plan, bank, secret, name, first)
        choices = {student: questions_of(student) for student in newcomers}
    # Variants that others in the class have are known before the first one is drawn: nobody gets them again.
    families = _Families(bank, secret, name, drawn_before.values())
    families.draw_ahead(choices, attempt, place)
    exercises = _exercises(plan, bank)
    quizzes = []
    for student in students:
        if student in choices:
            quizzes.append(
                Quiz(
                    id=quiz_id(secret, name, student, attempt),
                    name=name,
                    title=first.title if first else plan.blueprint.title,
                    student=student,
                    questions=families.draw(choices[student], student, attempt),
                    attempt=attempt,
                    rules=usual,
                    plan=first.plan if first else plan.fingerprint,
                    exercises=first.exercises if first else exercises,
                )
            )
        else:
            quizzes.append(drawn_before[student])
        progress()
    return quizzes


def _exercises(plan: PlacedBlueprint, bank: Bank) -> tuple[QuizExercise, ...]:
    """Return the code exercises of a plan; what isn't a code exercise is refused by :func:`choose_items`."""
    specs = [bank.load(item) for item in plan.blueprint.exercises if item in bank]
    return tuple(QuizExercise(spec.id, spec.title, spec.points) for spec in specs if spec.kind == "code")


def _questions(
    plan: PlacedBlueprint, bank: Bank, secret: bytes, name: str, first: Quiz | None
) -> Callable[[str], list[ChosenQuestion]]:
    """Return the function that gives a student's questions, the same as those drawn before."""
    if first is None:
        return choose_items(plan, bank, secret, name).of
    questions = [
        ChosenQuestion(q.variant.item, q.points, q.section, q.own_family, q.show_before, q.show_after)
        for q in first.questions
    ]
    # Where all have the same items, the stored quiz says which: the blueprint may have changed since.
    if not any(question.own_family for question in questions):
        return lambda student: questions
    if first.plan != plan.fingerprint:
        raise QuizError(
            f"the blueprint isn't the one that quiz {name} was drawn from, so nobody can be added to it",
            expected="the blueprint as it was: its sections say which items are each student's own",
            next_step="put it back, or draw a new quiz with --name NEW",
        )
    choice = choose_items(plan, bank, secret, name)
    common = tuple(question.item for question in questions)
    return ItemChoice(plan, secret, name, choice.slots, common).of


class _Families:
    """The families of a quiz by item, each read once and only if somebody draws from it."""

    def __init__(self, bank: Bank, secret: bytes, name: str, stored: Iterable[Quiz]) -> None:
        self._bank, self._secret, self._name = bank, secret, name
        self._by_item: dict[str, ItemVariants] = {}
        self._stored: dict[str, list[Variant]] = {}
        for quiz in stored:
            for question in quiz.questions:
                self._stored.setdefault(question.variant.item, []).append(question.variant)

    def draw(
        self, questions: Iterable[ChosenQuestion], student: str, attempt: int
    ) -> tuple[QuizQuestion, ...]:
        numbered = []
        for number, chosen in enumerate(questions, start=1):
            variant = with_points(self._family(chosen.item).first(student, attempt), chosen.points)
            numbered.append(
                QuizQuestion(
                    number,
                    variant,
                    variant.points,
                    chosen.section,
                    chosen.own_family,
                    show_before=chosen.show_before,
                    show_after=chosen.show_after,
                )
            )
        return tuple(numbered)

    def draw_ahead(
        self, choices: Mapping[str, Sequence[ChosenQuestion]], attempt: int, place: DrawingPlace
    ) -> None:
        """Draw a class's variants in that place; what is drawn twice is seen when it is handed out."""
        keys = [(student, chosen.item) for student, questions in choices.items() for chosen in questions]
        if not keys or (place is on_this_machine and len(keys) < LARGE_CLASS):
            return
        for item in dict.fromkeys(item for _, item in keys):
            self._family(item).plain(keys[0][0], attempt)  # so that forks inherit what is read once
        drawn = place(
            ClassDraws(
                keys,
                draw=lambda key: self._family(key[1]).hashed(key[0], attempt),
                seed=lambda key: self._family(key[1]).seed(key[0], attempt),
            )
        )
        for (student, item), variant in drawn.items():
            self._family(item).keep_ahead(student, attempt, variant)

    def _family(self, item: str) -> ItemVariants:
        if item not in self._by_item:
            family = self._by_item[item] = ItemVariants.of(self._bank, item, self._secret, self._name)
            for variant in self._stored.get(item, ()):
                family.note(variant)
        return self._by_item[item]


# Whole quizzes are drawn as attempts 0 to 1000, so further draws of one item go in steps of 1001; those for
# another attempt at a question begin 10,000 steps on, beyond whatever the first draw may have skipped.
# Changing a number here redraws quizzes that students have: it can't be done.
_STEP = 1001
_RETRIES = 10_000
# An item that gives no new variant in so many draws is taken to have none.
_TRIES = 200


def content(variant: Variant) -> str:
    """Return a hash of what a variant asks: equal for two that differ only in the order of options."""
    # Sorted: the same options in another order are the same question, which a neighbour can answer.
    texts = [
        [part.id, *sorted(option.text.plain for option in (*part.prompts, *part.options))]
        for part in variant.parts
    ]
    values = {name: [list(value.shape), list(value.entries)] for name, value in variant.values.items()}
    whole = json.dumps([variant.item, variant.stem.plain, values, texts], sort_keys=True)
    return hashlib.sha256(whole.encode("ascii")).hexdigest()[:16]


def with_points(variant: Variant, points: float | None) -> Variant:
    """Return the variant with other full marks, its parts in proportion."""
    if points is None or points == variant.points:
        return variant
    scale = points / variant.points
    return replace(variant, parts=tuple(replace(p, points=p.points * scale) for p in variant.parts))


@dataclass
class ItemVariants:
    """The variants of one item in quiz `name`.

    Parameters
    ----------
    spec : ProblemSpec
    version : str
    registry : mapping of str to str
    secret : bytes
    name : str
        Name of the quiz.
    """

    spec: ProblemSpec
    version: str
    registry: Mapping[str, str]
    secret: bytes
    name: str
    _handed_out: set[str] = field(default_factory=set)
    _size: int | None = None
    _ahead: dict[tuple[str, int], tuple[Variant, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, bank: Bank, item: str, secret: bytes, name: str) -> ItemVariants:
        """Return the family of an item in the bank as it is now."""
        return cls(bank.load(item), bank.version(item), bank.registry(), secret, name)

    def note(self, variant: Variant) -> None:
        """Count a variant that somebody has already."""
        self._handed_out.add(content(variant))

    def first(self, student: str, attempt: int) -> Variant:
        """Draw a student's variant: one that nobody in the class has, as long as there is any.

        Raises
        ------
        engine.errors.DrawError
            As :func:`engine.variants.draw`.
        """
        # Students outnumber the variants of a small family: once each is handed out, the next round begins,
        # so that they are shared evenly.
        if self._size is not None and len(self._handed_out) >= self._size:
            self._handed_out.clear()
        variant, content_hash = self._draw(student, attempt)
        for bump in range(1, self._limit()):
            if content_hash not in self._handed_out:
                break
            variant, content_hash = self._draw(student, attempt + _STEP * bump)
        if content_hash in self._handed_out:
            # Used up: the next round begins, and from now on its length is known.
            self._size = len(self._handed_out)
            self._handed_out.clear()
        self._handed_out.add(content_hash)
        return variant

    def again(self, student: str, attempt: int, retry: int, before: Collection[Variant]) -> Variant | None:
        """Draw a variant for another attempt, unlike all that the student had; None if there is none."""
        earlier = {content(variant) for variant in before}
        base = attempt + _STEP * _RETRIES * retry
        for bump in range(_TRIES):
            variant, content_hash = self._draw(student, base + _STEP * bump)
            if content_hash not in earlier:
                return variant
        return None

    def keep_ahead(self, student: str, attempt: int, variant: tuple[Variant, str]) -> None:
        """Keep what :meth:`hashed` drew elsewhere, until it is asked for."""
        self._ahead[student, attempt] = variant

    def _draw(self, student: str, attempt: int) -> tuple[Variant, str]:
        return self._ahead.pop((student, attempt), None) or self.hashed(student, attempt)

    def hashed(self, student: str, attempt: int) -> tuple[Variant, str]:
        """Draw a variant as :meth:`plain`, and return it with the hash of its content."""
        variant = self.plain(student, attempt)
        return variant, content(variant)

    def plain(self, student: str, attempt: int) -> Variant:
        """Draw a variant, whatever others have.

        Raises
        ------
        engine.errors.DrawError
            As :func:`engine.variants.draw`.
        """
        return draw(
            self.spec,
            version=self.version,
            registry=self.registry,
            secret=self.secret,
            student=f"{self.name}/{student}",
            attempt=attempt,
        )

    def seed(self, student: str, attempt: int) -> bytes:
        """Return what :meth:`plain` draws from, for :func:`engine.variants.draw_of_key`."""
        return draw_key(self.secret, self.spec.id, f"{self.name}/{student}", attempt)

    def _limit(self) -> int:
        # The last variant of a small family is found by luck alone: ten tries for each that there is.
        size = self.spec.variants
        return _TRIES if size is None else min(10 * size + 20, 10 * _TRIES)
