"""A quiz as the files of a QTI 3 package, and what QTI can't carry of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.export.exported_fields import EssayField, NumbersField, OrderField, WordsField
from engine.export.exported_item import ExportedFamily, ExportedItem, ExportedQuiz, ExportLoss
from engine.export.qti.item_xml import WrittenItem, written_item
from engine.export.qti.package_xml import (
    ITEM_FOLDER,
    MANIFEST,
    TEST,
    PackageSection,
    VariantBank,
    assessment_document,
    manifest_document,
)
from engine.export.qti.prose_xml import PictureFiles
from engine.export.qti.xml_pieces import identifier_of


def package_files(quiz: ExportedQuiz, step: Callable[[], None]) -> dict[str, str | bytes]:
    """Return the files of the package by their paths: manifest, test, items, pictures.

    Parameters
    ----------
    quiz : ExportedQuiz
    step : callable
        Called once for each variant.
    """
    pictures = PictureFiles()
    written: list[WrittenItem] = []
    sections: list[PackageSection] = []
    for number, family in enumerate(quiz.families, start=1):
        items = []
        for item in family.items:
            items.append(written_item(item, family, pictures))
            step()
        written += items
        item_files = tuple(item.file for item in items)
        bank = VariantBank(f"bank-{number}", family.title, item_files)
        if sections and sections[-1].title == (family.section or quiz.title):
            last = sections.pop()
            sections.append(PackageSection(last.identifier, last.title, (*last.banks, bank)))
        else:
            title = family.section or quiz.title
            sections.append(PackageSection(f"section-{len(sections) + 1}", title, (bank,)))
    name = identifier_of(quiz.name)
    files: dict[str, str | bytes] = {
        MANIFEST: manifest_document(name, [item.file for item in written], list(pictures.files), True),
        TEST: assessment_document(f"{name}-test", quiz.title, sections),
    }
    files |= {item.file.address: item.text for item in written}
    return {**files, **{f"{ITEM_FOLDER}/{path}": content for path, content in pictures.files.items()}}


def family_losses(family: ExportedFamily) -> Sequence[ExportLoss]:
    """Return what QTI can't carry of an item; each thing once, whatever variants show it."""
    losses = [
        ExportLoss(family.item, field, words) for item in family.items for field, words in _losses(item)
    ]
    return list(dict.fromkeys(losses))


def _losses(item: ExportedItem) -> Iterator[tuple[str, str]]:
    if item.variant.hints:
        yield "", "hints are shown after an answer that isn't right, not on request"
    for field in item.fields:
        if field.follows:
            yield field.id, "a step isn't marked again with the student's own earlier values"
        if isinstance(field, NumbersField):
            yield (
                field.id,
                "numbers are read as decimals only: 1/3, 0,5, 50 % and a typographic minus count as wrong",
            )
        elif isinstance(field, WordsField):
            yield field.id, "a text counts in the spellings that are listed in the item, and in no others"
        elif isinstance(field, OrderField):
            yield field.id, "an order that was left incomplete is marked as it stands"
        elif isinstance(field, EssayField):
            yield field.id, "a person marks it there, with the rubric beside it; SCORE stays 0 until then"
