"""Which variants are exported: drawn item by item, all different, the same again from the same seed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.export.exported_fields import FieldNotExportable
from engine.export.exported_item import ExportedFamily, ExportLoss, exported_item
from engine.items import ProblemSpec
from engine.items.bank import Bank
from engine.model import Variant
from engine.quiz.blueprint import PlacedBlueprint
from engine.quiz.choose import choose_items
from engine.variants import draw, draw_seeded

# Draws in a row that give nothing new, after which an item has no more variants. The last of 200 stays hidden
# in one export of twelve, which nobody misses; the second of two never does.
_PATIENCE = 500
# Names of files and identifiers in all formats.
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class WantedQuestion:
    """A question before it is drawn: its item, its points (None: the item's own), and its section."""

    item: str
    points: float | None = None
    section: str = ""


def quiz_name(text: str) -> str:
    """Return a text as the name of a quiz: letters, digits and hyphens.

    >>> quiz_name("Week 3: Attention!")
    'week-3-attention'
    """
    return _NOT_IN_NAMES.sub("-", text.lower()[:200]).strip("-") or "quiz"


def wanted_items(bank: Bank, items: Sequence[str]) -> list[WantedQuestion]:
    """Return a question for each item, each once.

    Raises
    ------
    engine.errors.UnknownItemError, engine.errors.SpecError
        There is no such item, or its file has faults.
    """
    for item in items:
        bank.load(item)
    return [WantedQuestion(item) for item in dict.fromkeys(items)]


def wanted_of_blueprint(plan: PlacedBlueprint, bank: Bank, secret: bytes, name: str) -> list[WantedQuestion]:
    """Return the questions that a blueprint asks the whole class.

    Raises
    ------
    engine.errors.QuizError
        As :func:`engine.quiz.choose.choose_items`.
    """
    choice = choose_items(plan, bank, secret, name)
    # a platform has no student whose own families could be drawn: those of the class's first draw stand
    return [WantedQuestion(question.item, question.points, question.section) for question in choice.of("")]


def draw_families(
    bank: Bank,
    questions: Sequence[WantedQuestion],
    count: int,
    *,
    secret: bytes | None,
    seed: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> tuple[tuple[ExportedFamily, ...], list[ExportLoss]]:
    """Draw the variants of each question; also return the items that no other platform can ask.

    Parameters
    ----------
    bank : Bank
    questions : sequence of WantedQuestion
    count : int
        Variants of each; fewer where an item has fewer.
    secret : bytes or None
        The course's; without one the draws are those of `grade show ITEM --seed N` from `seed` on.
    seed : int
        Another one gives other variants.
    progress : callable
        Called once for each variant.

    Raises
    ------
    engine.errors.DrawError
        As :func:`engine.variants.draw`.
    """
    registry = bank.registry()
    families, losses = [], []
    for question in questions:
        spec, version = bank.load(question.item), bank.version(question.item)

        def draw_one(n: int, spec: ProblemSpec = spec, version: str = version) -> Variant:
            if secret is None:
                return draw_seeded(spec, version=version, registry=registry, seed=seed + n)
            # No student has this name: an id has no blanks.
            return draw(
                spec, version=version, registry=registry, secret=secret, student=f"export {seed}", attempt=n
            )

        try:
            # the first variant tells whether there can be others
            exported_item(spec.id, draw_one(0))
        except FieldNotExportable as reason:
            losses.append(ExportLoss(spec.id, "", str(reason), is_refusal=True))
            continue
        most = min(count, spec.variants or count)
        families.append(_family(spec, question, _different(draw_one, most, progress)))
    return tuple(families), losses


def _different(draw_one: Callable[[int], Variant], count: int, progress: Callable[[], None]) -> list[Variant]:
    variants: dict[tuple[object, ...], Variant] = {}
    in_vain = n = 0
    while len(variants) < count and in_vain < _PATIENCE:
        variant = draw_one(n)
        n += 1
        if variants.setdefault(_content(variant), variant) is variant:
            in_vain = 0
            progress()
        else:
            in_vain += 1
    return list(variants.values())


def _content(variant: Variant) -> tuple[object, ...]:
    """Return what makes a variant another one: not the order of its options, which platforms shuffle."""
    texts = tuple(
        frozenset(option.text.plain for option in (*part.options, *part.prompts)) for part in variant.parts
    )
    values = tuple((name, value.shape, value.entries) for name, value in sorted(variant.values.items()))
    return variant.stem.plain, values, texts


def _family(spec: ProblemSpec, question: WantedQuestion, variants: Sequence[Variant]) -> ExportedFamily:
    points = spec.points if question.points is None else question.points
    digits = max(3, len(str(len(variants))))
    names = [f"{quiz_name(spec.id)}-{number:0{digits}}" for number in range(1, len(variants) + 1)]
    items = [exported_item(name, variant, points) for name, variant in zip(names, variants, strict=True)]
    return ExportedFamily(
        item=spec.id,
        title=spec.title,
        category=(spec.topics[0],),
        tags=(*spec.topics, f"difficulty-{spec.difficulty}", spec.bloom, spec.id),
        points=points,
        section=question.section,
        items=tuple(items),
    )
