"""What a question of Canvas can't do, said for each item before anything is written."""

from __future__ import annotations

from collections.abc import Iterator

from engine.export.exported_fields import (
    ChoiceField,
    EssayField,
    ExportedField,
    MatchField,
    NumbersField,
    OrderField,
    WordsField,
)
from engine.export.exported_item import ExportedFamily, ExportedItem, ExportLoss
from engine.export.listed_numbers import listed_decimals
from engine.text.words import count_noun

# The page rounds a typed number to so many decimals, and sends only that.
MOST_DECIMALS = 4


def question_losses(family: ExportedFamily) -> Iterator[ExportLoss]:
    """Yield what Canvas can't carry of a family; the same thing once for all variants."""
    yield from dict.fromkeys(loss for item in family.items for loss in _losses_of(item, family.item))


def _losses_of(item: ExportedItem, name: str) -> Iterator[ExportLoss]:
    if item.variant.hints:
        yield ExportLoss(name, "", "its hints aren't shown")
    blanks = needs_blanks(item)
    for field in item.fields:
        for message in _field_losses(field, blanks=blanks):
            yield ExportLoss(name, field.id, message)
        if blanks and isinstance(field, EssayField):
            yield ExportLoss(name, field.id, "an answer in words can't be one of several blanks", True)
    if not blanks:
        return
    # Canvas knows no weights of blanks: a vector of nine entries outweighs the number that is asked after it.
    counts = [_blank_count(field) for field in item.fields]
    earned = [count / sum(counts) for count in counts]
    if any(abs(a - b) > 1e-9 for a, b in zip(earned, item.shares(), strict=True)):
        blanks_words = count_noun(sum(counts), "blank")
        yield ExportLoss(name, "", f"each of the {blanks_words} of the question earns the same share")


def needs_blanks(item: ExportedItem) -> bool:
    """Return whether an item is a text with blanks: several fields, or numbers that need more than one."""
    field = item.fields[0]
    return len(item.fields) > 1 or (isinstance(field, NumbersField) and not _is_numerical(field))


def _is_numerical(field: NumbersField) -> bool:
    """Return whether the page sends the number as it is asked for."""
    return not field.shape and listed_decimals(field.entries[0]) <= MOST_DECIMALS


def _blank_count(field: ExportedField) -> int:
    match field:
        case NumbersField(entries=entries):
            return len(entries)
        case MatchField(prompts=prompts):
            return len(prompts)
        case OrderField(cards=cards):
            return len(cards)
    return 1


def _field_losses(field: ExportedField, *, blanks: bool) -> Iterator[str]:
    if field.follows:
        yield "the answer isn't marked again with the student's own earlier values"
    match field:
        case ChoiceField(multiple=True, policy=policy):
            if blanks:
                yield "the letters of all right options earn the points, other picks nothing"
            elif policy != "net-correct":
                yield "each right pick earns its share and each wrong one costs as much, whatever the policy"
        case ChoiceField(accepts_printed=True):
            yield "the option that the source printed by mistake isn't accepted"
        case OrderField(policy=policy) if policy != "positions":
            yield "each card in its place earns its share, whatever the policy"
        case MatchField(policy="exact"):
            yield "each right pair earns its share, where all had to be right"
        case NumbersField():
            yield from _number_losses(field, blanks=blanks)
        case WordsField():
            yield "a text is right only if it is spelt as one of the texts listed, but for case"
            if field.case_sensitive:
                yield "capital letters don't matter"
            if field.order_credit:
                yield "right sequences in another order earn nothing"
            if field.wrong:
                yield "no feedback is shown for the texts that known mistakes give"
        case EssayField():
            yield "the rubric and the limits of words aren't carried"
    if blanks and isinstance(field, ChoiceField | MatchField | OrderField):
        yield "letters and places are typed, and have no feedback of their own"


def _number_losses(field: NumbersField, *, blanks: bool) -> Iterator[str]:
    if any(len(group) > 1 for group in field.groups):
        whole = "all of them" if len(field.groups) == 1 else "a whole row"
        yield f"each right number earns its share, where {whole} had to be right"
    if field.near_credit:
        yield "numbers that are nearly right earn nothing"
    if field.wrong:
        yield "no feedback is shown for the numbers that known mistakes give"
    if blanks:
        decimals = max(listed_decimals(entry) for entry in field.entries)
        words = count_noun(decimals, "decimal") if decimals else "no decimals"
        yield f"a blank compares characters: right numbers are listed with {words}, in the usual notations"
