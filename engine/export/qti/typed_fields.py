"""Fields in which something is typed: numbers, words, essays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product

from engine.export.exported_fields import EssayField, NumberEntry, NumbersField, WordsField
from engine.export.qti.field_xml import (
    FieldNames,
    FieldXml,
    mapping_of,
    outcome_declaration,
    response_declaration,
    sentence,
)
from engine.export.qti.processing import (
    add_value,
    base_value,
    both,
    choose,
    either,
    give_feedback,
    is_answered,
    ladder,
    lies_between,
    set_value,
    variable,
)
from engine.export.qti.prose_xml import ProseXml
from engine.export.qti.xml_pieces import element, escaped
from engine.text.words import points_text

# What may be typed on the way to a number: one player refuses each key that breaks it, the other warns. The
# first trims blanks off the ends of a pattern, so that they are written as \s.
NUMBER_MASK = r"\s*[+\-]?[0-9]*\.?[0-9]*([eE][+\-]?[0-9]*)?\s*"
_NUMBER_MESSAGE = "Write a decimal number with a point, such as 0.25: no comma, no fraction, no percent sign."
_WHOLE_MESSAGE = "Write a whole number in digits, without separators."
# Widths that QTI has a word for; a number of ten characters is the longest that an item asks for.
_NUMBER_WIDTH, _WORD_WIDTH = 10, 20
_WORDS_A_LINE = 12
_LINES = (6, 30)


def numbers_field(field: NumbersField, names: FieldNames, points: float, _prose: ProseXml) -> FieldXml:
    """Return a number, a vector or a matrix: a text entry for each number."""
    entries = field.entries
    kind = "integer" if field.whole and all(map(_is_whole, entries)) else "float"
    responses = (
        [names.response]
        if len(entries) == 1
        else [f"{names.response}_{number}" for number in range(1, len(entries) + 1)]
    )
    right = [
        lies_between(name, f"{e.lower:f}", f"{e.upper:f}", kind)
        for name, e in zip(responses, entries, strict=True)
    ]
    near = [
        is_right
        if e.near is None
        else either(is_right, lies_between(name, _plain(e.near[0]), _plain(e.near[1]), kind))
        for name, e, is_right in zip(responses, entries, right, strict=True)
    ]
    outcomes, partial = _partial_rules(field, names, points, right, near)
    feedback, mistake_rules = [], []
    for number, mistake in enumerate(field.wrong, start=1):
        if not mistake.feedback:
            continue
        gives = [
            lies_between(name, _plain(e.lower), _plain(e.upper), "integer" if _is_whole(e) else "float")
            for name, e in zip(responses, mistake.entries, strict=True)
        ]
        identifier = names.outcome(f"mistake-{number}")
        mistake_rules.append(choose((both(*gives), give_feedback(identifier))))
        feedback.append((identifier, sentence(mistake.feedback)))
    others = partial + "".join(mistake_rules)
    rules = choose((both(*right), names.full(points)), otherwise=others)
    declarations = tuple(
        response_declaration(name, kind, [e.right]) for name, e in zip(responses, entries, strict=True)
    )
    body = _number_body(field, responses)
    return FieldXml(declarations, outcomes, body, rules, tuple(feedback), "textEntryInteraction")


def _plain(value: Decimal) -> str:
    return f"{value:f}"


def _is_whole(entry: NumberEntry) -> bool:
    return entry.lower == int(entry.lower) and entry.upper == int(entry.upper)


def _partial_rules(
    field: NumbersField, names: FieldNames, points: float, right: Sequence[str], near: Sequence[str]
) -> tuple[tuple[str, ...], str]:
    """Return counters and rules for what isn't all right.

    Credit is counted in whole units and looked up at the end: one player keeps three decimals of each
    outcome, so that a sum of thirds would drift.
    """
    credit, groups = Fraction(field.near_credit), field.groups
    if len(groups) == 1 and not credit:
        return (), ""
    units, near_units = credit.denominator, credit.numerator
    counter = names.outcome("UNITS")
    rules = []
    for group in groups:
        branches = [(both(*[right[i] for i in group]), add_value(counter, base_value("integer", units)))]
        if credit:
            nearly = both(*[near[i] for i in group])
            branches.append((nearly, add_value(counter, base_value("integer", near_units))))
        rules.append(choose(*branches))
    counts = product(range(len(groups) + 1), repeat=2)
    shares = {
        hits * units + misses * near_units
        for hits, misses in counts
        if hits + misses <= len(groups) and (credit or not misses)
    }
    most = len(groups) * units
    steps = [(n, points * n / most) for n in sorted(shares, reverse=True) if n]
    return (outcome_declaration(counter, "integer"),), "".join(rules) + ladder(counter, names.score, steps)


def _number_body(field: NumbersField, responses: Sequence[str]) -> str:
    fields = [
        _text_entry(
            name,
            _NUMBER_WIDTH,
            NUMBER_MASK,
            _WHOLE_MESSAGE if field.whole else _NUMBER_MESSAGE,
            entry.label,
        )
        for name, entry in zip(responses, field.entries, strict=True)
    ]
    unit = f" {escaped(field.unit)}" if field.unit else ""
    if len(field.shape) < 2:
        inside = ", ".join(fields)
        return element("p", f"[ {inside} ]{unit}" if field.shape else f"{inside}{unit}")
    columns = field.shape[1]
    rows = [fields[i : i + columns] for i in range(0, len(fields), columns)]
    table = element(
        "table", element("tbody", *[element("tr", *[element("td", cell) for cell in row]) for row in rows])
    )
    return table + sentence(field.unit)


def _text_entry(
    name: str, width: int, mask: str | None = None, message: str | None = None, label: str = ""
) -> str:
    return element(
        "qti-text-entry-interaction",
        class_=f"qti-input-width-{width}",
        response_identifier=name,
        expected_length=width,
        pattern_mask=mask,
        data_patternmask_message=message,
        aria_label=label or None,
    )


def words_field(
    field: WordsField, names: FieldNames, points: float, spellings: Mapping[str, float]
) -> FieldXml:
    """Return a line of text.

    Parameters
    ----------
    field : WordsField
    names : FieldNames
    points : float
    spellings : mapping of str to float
        What earns something, with its share of the points.
    """
    mapping = mapping_of(
        {text: points * share for text, share in spellings.items()}, case_sensitive=field.case_sensitive
    )
    feedback, mistake_rules = [], []
    for number, (text, about) in enumerate(field.wrong, start=1):
        if not about or not _is_plain(text):
            continue
        gives = element(
            "qti-string-match",
            variable(names.response),
            base_value("string", text),
            case_sensitive=field.case_sensitive,
        )
        identifier = names.outcome(f"mistake-{number}")
        mistake_rules.append(choose((gives, give_feedback(identifier))))
        feedback.append((identifier, sentence(about)))
    # Both players stop at a text that isn't there: nothing of it is looked at before.
    rules = choose(
        (is_answered(names.response), set_value(names.score, names.mapped()) + "".join(mistake_rules))
    )
    plain_texts = [text for text in field.accepted if _is_plain(text)]
    declaration = response_declaration(names.response, "string", plain_texts[:1], mapping=mapping)
    body = element("p", _text_entry(names.response, _WORD_WIDTH))
    return FieldXml((declaration,), (), body, rules, tuple(feedback), "textEntryInteraction")


def _is_plain(text: str) -> bool:
    """Return whether a value can be written as text in an element: ``{{`` begins a template in one player."""
    return "{{" not in text


def essay_field(field: EssayField, names: FieldNames, _points: float, prose: ProseXml) -> FieldXml:
    """Return a field for words that a person marks; the rubric and the sample are for markers only."""
    words = field.most_words or field.least_words or 0
    lines = min(max(_LINES[0], words // _WORDS_A_LINE), _LINES[1])
    entries = []
    for criterion in field.rubric:
        head = element("strong", f"{prose.inline(criterion.title)} ({points_text(criterion.points)})")
        levels = [
            element("li", f"{points_text(level.points)}: {prose.inline(level.text)}")
            for level in criterion.levels
        ]
        entries.append(
            element(
                "li",
                element("p", head),
                prose.blocks(criterion.text),
                element("ul", *levels) if levels else "",
            )
        )
    sample = sentence("A sample answer:") + prose.blocks(field.sample) if field.sample else ""
    rubric = element(
        "qti-rubric-block",
        element("qti-content-body", element("ul", *entries), sample),
        use="scoring",
        view="scorer",
    )
    body = element(
        "qti-extended-text-interaction",
        response_identifier=names.response,
        expected_lines=lines,
        format="plain",
    )
    declaration = response_declaration(names.response, "string", ())
    return FieldXml((declaration,), (), body + rubric, "", (), "extendedTextInteraction")
