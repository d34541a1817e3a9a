"""A question as every format is written from it, its family of variants, and the quiz that draws from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.export.exported_fields import ExportedField, exported_field
from engine.model import RenderedText, Variant


@dataclass(frozen=True, slots=True)
class ExportedItem:
    """One variant.

    Parameters
    ----------
    name : str
        Unique in the export, made of lower-case letters, digits and hyphens: ``softmax-weights-003``.
    variant : Variant
        Title, stem, hints, solution and notes.
    points : float
        What it counts in the quiz; the fields' own points are scaled to it where a format needs the sum.
    fields : tuple of ExportedField
        One, or one for each step.
    """

    name: str
    variant: Variant
    points: float
    fields: tuple[ExportedField, ...]

    @property
    def title(self) -> str:
        """The item's title."""
        return self.variant.title

    @property
    def general_feedback(self) -> tuple[RenderedText, ...]:
        """What is shown after the answer: the worked solution, then errata that would have given it away."""
        # errata come last: some make sense only to whoever has seen the solution
        solution = () if self.variant.solution is None else (self.variant.solution,)
        return (*solution, *self.variant.told_after)

    def shares(self) -> tuple[float, ...]:
        """Return what each field counts, as a share of the item's points."""
        total = sum(field.points for field in self.fields)
        return tuple(field.points / total for field in self.fields)


@dataclass(frozen=True, slots=True)
class ExportedFamily:
    """The variants of one item, of which a platform draws one for each student.

    Parameters
    ----------
    item : str
        The item's id.
    title : str
    category : tuple of str
        Where a question bank keeps it, from the widest word to the narrowest: its topics.
    tags : tuple of str
        Topics, difficulty, level of Bloom's taxonomy, and the id.
    points : float
    section : str
        The quiz's section that asks it; empty for none.
    items : tuple of ExportedItem
        At least one, all different.
    """

    item: str
    title: str
    category: tuple[str, ...]
    tags: tuple[str, ...]
    points: float
    section: str
    items: tuple[ExportedItem, ...]


@dataclass(frozen=True, slots=True)
class ExportedQuiz:
    """What is exported: a name of letters, digits and hyphens, a title, and a family for each question."""

    name: str
    title: str
    families: tuple[ExportedFamily, ...]

    def items(self) -> Iterator[ExportedItem]:
        """Yield all variants, family after family."""
        for family in self.families:
            yield from family.items


@dataclass(frozen=True, slots=True)
class ExportLoss:
    """Something that a format can't carry.

    Parameters
    ----------
    item : str
        The item's id.
    field : str
        Id of the answer field; empty where the whole item is meant.
    message : str
        What happens instead, as a clause for people: ``partial credit by pairs becomes all or nothing``.
    is_refusal : bool
        Whether the item can't be exported at all.
    """

    item: str
    field: str
    message: str
    is_refusal: bool = False


def exported_item(name: str, variant: Variant, points: float | None = None) -> ExportedItem:
    """Return a variant as it is exported.

    Parameters
    ----------
    name : str
        See :class:`ExportedItem`.
    variant : Variant
    points : float, optional
        What it counts; the item's own points by default.

    Raises
    ------
    engine.export.exported_fields.FieldNotExportable
        It asks for something that no other platform can mark.
    """
    fields = tuple(exported_field(part) for part in variant.parts)
    return ExportedItem(name, variant, variant.points if points is None else points, fields)
