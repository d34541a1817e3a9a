"""One exported item as a QTI 3 item: its fields, its feedback, and what they add up to."""

from __future__ import annotations

from dataclasses import dataclass

from engine.export.exported_fields import (
    ChoiceField,
    EssayField,
    ExportedField,
    MatchField,
    NumbersField,
    OrderField,
    WordsField,
)
from engine.export.exported_item import ExportedFamily, ExportedItem
from engine.export.qti.choice_fields import choice_field, match_field, order_field
from engine.export.qti.field_xml import FieldNames, FieldXml, outcome_declaration
from engine.export.qti.package_xml import ItemFile, item_document
from engine.export.qti.processing import (
    SCORE,
    base_value,
    choose,
    feedback_outcome,
    give_feedback,
    number_text,
    points_value,
    set_value,
    variable,
)
from engine.export.qti.prose_xml import PictureFiles, ProseXml
from engine.export.qti.typed_fields import essay_field, numbers_field, words_field
from engine.export.qti.xml_pieces import element, escaped, list_of
from engine.export.spellings import accepted_spellings

_SOLUTION = "SOLUTION"
# One player keeps three decimals of a score: what misses the full marks by less isn't missed.
_ROUNDED = 0.001


@dataclass(frozen=True, slots=True)
class WrittenItem:
    """An item's file, its text, and what the manifest says of it."""

    file: ItemFile
    text: str


def field_xml(field: ExportedField, names: FieldNames, points: float, prose: ProseXml) -> FieldXml:
    """Return what a field adds to its item."""
    match field:
        case ChoiceField():
            return choice_field(field, names, points, prose)
        case OrderField():
            return order_field(field, names, points, prose)
        case MatchField():
            return match_field(field, names, points, prose)
        case NumbersField():
            return numbers_field(field, names, points, prose)
        case WordsField():
            return words_field(field, names, points, accepted_spellings(field))
        case EssayField():
            return essay_field(field, names, points, prose)


def written_item(item: ExportedItem, family: ExportedFamily, pictures: PictureFiles) -> WrittenItem:
    """Return an item as a file of a package.

    Parameters
    ----------
    item : ExportedItem
    family : ExportedFamily
        For the metadata.
    pictures : PictureFiles
        Of the package; those of the item are added.
    """
    prose = ProseXml(pictures)
    is_several = len(item.fields) > 1
    names = [FieldNames(f"_{number}" if is_several else "") for number in range(1, len(item.fields) + 1)]
    points = [item.points * share for share in item.shares()]
    fields = [
        field_xml(field, name, worth, prose)
        for field, name, worth in zip(item.fields, names, points, strict=True)
    ]
    text = item_document(
        item.name,
        item.title,
        *[declaration for field in fields for declaration in field.responses],
        *_outcomes(item, names, points, fields),
        element("qti-item-body", "\n", list_of(_body(item, fields, prose))),
        element("qti-response-processing", "\n", list_of(_rules(item, names, fields))),
        _solution(item, prose),
    )
    file = ItemFile(
        item.name,
        item.title,
        tuple(dict.fromkeys(field.interaction for field in fields)),
        family.category,
        family.tags,
        tuple(prose.addresses),
        is_several,
    )
    return WrittenItem(file, text)


def _outcomes(
    item: ExportedItem, names: list[FieldNames], points: list[float], fields: list[FieldXml]
) -> list[str]:
    by_person = [isinstance(field, EssayField) for field in item.fields]
    outcomes = []
    if len(fields) > 1:
        outcomes.append(outcome_declaration(SCORE, "float", external=any(by_person), most=item.points))
    for name, worth, field, external in zip(names, points, fields, by_person, strict=True):
        outcomes += [outcome_declaration(name.score, "float", external=external, most=worth), *field.outcomes]
    outcomes += [
        outcome_declaration("MAXSCORE", "float", number_text(item.points)),
        outcome_declaration(_SOLUTION, "identifier", None),
    ]
    field_feedback = [name for field in fields for name, _ in field.feedback]
    identifiers = [*field_feedback, *_hint_names(item)]
    outcomes += [
        outcome_declaration(feedback_outcome(identifier), "identifier", None) for identifier in identifiers
    ]
    return outcomes


def _body(item: ExportedItem, fields: list[FieldXml], prose: ProseXml) -> list[str]:
    variant = item.variant
    body = [prose.blocks(variant.stem), *[prose.blocks(note) for note in variant.notes]]
    for field, written in zip(item.fields, fields, strict=True):
        body += [prose.blocks(field.prompt), written.body]
        body += [_shown_for(name, content) for name, content in written.feedback]
    for number, (name, hint) in enumerate(zip(_hint_names(item), variant.hints, strict=True), start=1):
        head = element(
            "p", element("strong", escaped("Hint" if len(variant.hints) == 1 else f"Hint {number}"))
        )
        body.append(_shown_for(name, head + prose.blocks(hint)))
    return body


def _hint_names(item: ExportedItem) -> list[str]:
    return [f"hint-{number}" for number in range(1, len(item.variant.hints) + 1)]


def _shown_for(identifier: str, content: str) -> str:
    return element(
        "qti-feedback-block",
        element("qti-content-body", content),
        outcome_identifier=feedback_outcome(identifier),
        identifier=identifier,
        show_hide="show",
    )


def _rules(item: ExportedItem, names: list[FieldNames], fields: list[FieldXml]) -> list[str]:
    rules = [field.rules for field in fields]
    if len(fields) > 1:
        rules.append(set_value(SCORE, element("qti-sum", *[variable(name.score) for name in names])))
    if item.variant.hints:
        misses = element("qti-lt", variable(SCORE), points_value(item.points - _ROUNDED))
        rules.append(choose((misses, give_feedback(*_hint_names(item)))))
    if item.general_feedback:
        rules.append(set_value(_SOLUTION, base_value("identifier", "solution")))
    return rules


def _solution(item: ExportedItem, prose: ProseXml) -> str:
    if not item.general_feedback:
        return ""
    return element(
        "qti-modal-feedback",
        element("qti-content-body", *[prose.blocks(text) for text in item.general_feedback]),
        outcome_identifier=_SOLUTION,
        identifier="solution",
        show_hide="show",
        title="Solution",
    )
