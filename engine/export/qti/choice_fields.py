"""Fields in which nothing is typed: choices, orders, matchings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from engine.export.exported_fields import ChoiceField, MatchField, OrderField
from engine.export.qti.field_xml import (
    FieldNames,
    FieldXml,
    mapping_of,
    outcome_declaration,
    prompt_of,
    response_declaration,
    sentence,
)
from engine.export.qti.processing import (
    add_value,
    base_value,
    both,
    choose,
    count_picked,
    either,
    give_feedback,
    has_counted,
    is_answered,
    is_choice,
    is_key,
    is_picked,
    ladder,
    points_value,
    set_value,
    variable,
)
from engine.export.qti.prose_xml import ProseXml
from engine.export.qti.xml_pieces import element, escaped, identifier_of
from engine.model import ChoiceOption

# Characters of all headings together: with more of them no room is left for what the rows say.
_WIDEST_HEADINGS = 40
Branch = tuple[str, str]
"""A condition, and the rules for where it holds."""


def choice_field(field: ChoiceField, names: FieldNames, points: float, prose: ProseXml) -> FieldXml:
    """Return a choice of one option or of several."""
    right = [option.id for option in field.options if option.correct]
    # A single choice also says why the right option is right; of several, only wrong ones say something.
    with_feedback = [
        option for option in field.options if option.feedback and not (field.multiple and option.correct)
    ]
    feedback_names = {option.id: names.outcome(f"option-{option.id}") for option in with_feedback}
    if field.multiple:
        before, outcomes, mapping, others = _policy_rules(field, right, names, points)
        rules = before + choose((is_key(names.response), names.full(points)), *others)
        is_one = is_picked
    else:
        outcomes, mapping = (), ""
        is_right = either(*[is_choice(option, names.response) for option in right])
        rules = choose((is_right, names.full(points)))
        is_one = is_choice
    rules += "".join(
        [
            choose((is_one(option, names.response), give_feedback(name)))
            for option, name in feedback_names.items()
        ]
    )
    declaration = response_declaration(
        names.response,
        "identifier",
        right if field.multiple else right[:1],
        cardinality="multiple" if field.multiple else "single",
        mapping=mapping,
    )
    body = element(
        "qti-choice-interaction",
        prompt_of("Pick all options that apply." if field.multiple else ""),
        *[
            element("qti-simple-choice", prose.inline(option.text), identifier=option.id)
            for option in field.options
        ],
        class_="qti-labels-lower-alpha qti-labels-suffix-parenthesis",
        response_identifier=names.response,
        shuffle=False,
        max_choices=0 if field.multiple else 1,
        min_choices=0,
    )
    feedback = tuple(
        (feedback_names[option.id], sentence(f"({option.id}) {option.feedback}")) for option in with_feedback
    )
    return FieldXml((declaration,), outcomes, body, rules, feedback, "choiceInteraction")


def _policy_rules(
    field: ChoiceField, right: Sequence[str], names: FieldNames, points: float
) -> tuple[str, tuple[str, ...], str, list[Branch]]:
    """Return rules in front, outcomes, the mapping, and branches for what isn't all right."""
    wrong = [option.id for option in field.options if not option.correct]
    if field.policy == "exact":
        return "", (), "", []
    if field.policy == "coverage":
        return _coverage_rules(right, wrong, names, points)
    parts = len(right) if field.policy == "net-correct" else len(field.options)
    each = points / parts
    values = {option.id: each if option.correct else -each for option in field.options}
    score = names.mapped()
    if field.policy == "net-correct":
        mapping = mapping_of(values, lower=0)
    elif field.policy == "each-answer":
        mapping = mapping_of(values)
        # who picks nothing of what is wrong has decided rightly about it
        score = element("qti-sum", points_value(points * len(wrong) / parts), score)
    else:
        raise ValueError(f"no rules for the policy {field.policy!r}")
    return "", (), mapping, [(is_answered(names.response), set_value(names.score, score))]


def _coverage_rules(
    right: Sequence[str], wrong: Sequence[str], names: FieldNames, points: float
) -> tuple[str, tuple[str, ...], str, list[Branch]]:
    """Return the products of two shares as a table: right and wrong picks are counted, and looked up."""
    hits, false = names.outcome("HITS"), names.outcome("FALSE")
    before = count_picked(hits, names.response, right, 1) + count_picked(false, names.response, wrong, 1)
    branches = []
    for misses in range(len(wrong) + 1):
        few = element("qti-lte", variable(false), base_value("integer", misses))
        for hit_count in range(len(right), 0, -1):
            share = Fraction(hit_count * hit_count, len(right) * (hit_count + misses))
            score = set_value(names.score, points_value(points * float(share)))
            branches.append((both(few, has_counted(hits, hit_count)), score))
    return before, (outcome_declaration(hits, "integer"), outcome_declaration(false, "integer")), "", branches


def order_field(field: OrderField, names: FieldNames, points: float, prose: ProseXml) -> FieldXml:
    """Return cards to be put in order; they lie beside empty places, so that no answer is no order."""
    outcomes: tuple[str, ...] = ()
    before = partial = ""
    if field.policy == "positions":
        outcomes, before, partial = _position_rules(field.order, names, points)
    elif field.policy == "pairs":
        outcomes, before, partial = _pair_rules(field.order, names, points)
    elif field.policy != "exact":
        raise ValueError(f"no rules for the policy {field.policy!r}")
    feedback = ((names.outcome("order"), sentence(field.feedback)),) if field.feedback else ()
    order_feedback = "".join([give_feedback(name) for name, _ in feedback])
    # A branch needs a rule: without any, nothing but the key earns something.
    others = [(is_answered(names.response), partial + order_feedback)] if partial or order_feedback else []
    rules = before + choose((is_key(names.response), names.full(points)), *others)
    body = element(
        "qti-order-interaction",
        prompt_of("Put all cards in order, first to last."),
        *[element("qti-simple-choice", prose.inline(card.text), identifier=card.id) for card in field.cards],
        class_="qti-choices-left qti-labels-none",
        response_identifier=names.response,
        shuffle=False,
        orientation="vertical",
    )
    declaration = response_declaration(names.response, "identifier", field.order, cardinality="ordered")
    return FieldXml((declaration,), outcomes, body, rules, feedback, "orderInteraction")


def _place_rules(
    names: FieldNames, places: int, branches_at: Mapping[int, Sequence[tuple[str, str]]]
) -> list[str]:
    """Return rules that look at one place after the other: cards, and what follows if one is there."""
    place = names.outcome("PLACE")
    card = element("qti-index", variable(names.response), n=place)
    rules = []
    for number in range(1, places + 1):
        branches = [
            (element("qti-match", card, base_value("identifier", name)), rule)
            for name, rule in branches_at[number]
        ]
        rules += [set_value(place, base_value("integer", number)), choose(*branches)]
    return rules


def _position_rules(
    order: Sequence[str], names: FieldNames, points: float
) -> tuple[tuple[str, ...], str, str]:
    counter, places = names.outcome("COUNT"), len(order)
    count_up = add_value(counter, base_value("integer", 1))
    rules = _place_rules(names, places, {n: [(card, count_up)] for n, card in enumerate(order, start=1)})
    steps = [(n, points * n / places) for n in range(places, 0, -1)]
    outcomes = (
        outcome_declaration(counter, "integer"),
        outcome_declaration(names.outcome("PLACE"), "integer"),
    )
    return outcomes, "".join(rules), ladder(counter, names.score, steps)


def _pair_rules(order: Sequence[str], names: FieldNames, points: float) -> tuple[tuple[str, ...], str, str]:
    """Return rules that count pairs in order: half of all are right by chance and earn nothing."""
    counter, places = names.outcome("COUNT"), len(order)
    at = {card: names.outcome(f"AT-{identifier_of(card)}") for card in order}
    rules = _place_rules(
        names,
        places,
        {
            n: [(card, set_value(name, base_value("integer", n))) for card, name in at.items()]
            for n in range(1, places + 1)
        },
    )
    pairs = list(combinations(order, 2))
    for first, second in pairs:
        follows = element("qti-lt", variable(at[first]), variable(at[second]))
        count_up = add_value(counter, base_value("integer", 1))
        rules.append(choose((both(has_counted(at[first], 1), follows), count_up)))
    most = len(pairs)
    steps = [(n, points * (2 * n - most) / most) for n in range(most, most // 2, -1)]
    names_of_integers = (counter, names.outcome("PLACE"), *at.values())
    outcomes = tuple(outcome_declaration(name, "integer") for name in names_of_integers)
    return outcomes, "".join(rules), ladder(counter, names.score, steps)


def match_field(field: MatchField, names: FieldNames, points: float, prose: ProseXml) -> FieldXml:
    """Return a table with a row for each prompt and a column for each target.

    One player unchecks what shares the beginning of an identifier; so prompts have two digits, and no
    identifier of a target holds one of a prompt.
    """
    rows = {prompt.id: f"P{number:02d}" for number, prompt in enumerate(field.prompts, start=1)}
    columns = {target.id: f"T-{identifier_of(target.id)}" for target in field.targets}
    pairs = {prompt: f"{rows[prompt]} {columns[target]}" for prompt, target in field.pairs.items()}
    mapping, others = "", []
    if field.policy == "each-answer":
        mapping = mapping_of(dict.fromkeys(pairs.values(), points / len(pairs)))
        others = [(is_answered(names.response), set_value(names.score, names.mapped()))]
    elif field.policy != "exact":
        raise ValueError(f"no rules for the policy {field.policy!r}")
    rules = [choose((is_key(names.response), names.full(points)), *others)]
    outcomes, feedback = [], []
    for prompt in field.prompts:
        if not prompt.feedback:
            continue
        # A pair can't be written as a constant that both players read, but as the default of an outcome.
        wrong = [f"{rows[prompt.id]} {column}" for column in columns.values()]
        wrong.remove(pairs[prompt.id])
        constants = {names.outcome(pair.replace(" ", "-")): pair for pair in wrong}
        outcomes += [outcome_declaration(name, "directedPair", pair) for name, pair in constants.items()]
        is_wrong = [element("qti-member", variable(name), variable(names.response)) for name in constants]
        feedback_name = names.outcome(f"prompt-{rows[prompt.id]}")
        rules.append(choose((either(*is_wrong), give_feedback(feedback_name))))
        feedback.append((feedback_name, sentence(f"{prompt.text.plain.rstrip(' .')}: {prompt.feedback}")))

    def side(names_of: Mapping[str, str], contents: Sequence[str], most: int) -> str:
        choices = [
            element("qti-simple-associable-choice", content, identifier=name, match_max=most)
            for name, content in zip(names_of.values(), contents, strict=True)
        ]
        return element("qti-simple-match-set", *choices)

    targets, legend = _target_columns(field.targets, prose)

    body = element(
        "qti-match-interaction",
        prompt_of("Pick one column in each row."),
        side(rows, [prose.inline(prompt.text) for prompt in field.prompts], 1),
        side(columns, targets, 0),
        class_="qti-match-tabular",
        response_identifier=names.response,
        shuffle=False,
        max_associations=len(field.prompts),
        min_associations=0,
    )
    declaration = response_declaration(
        names.response, "directedPair", list(pairs.values()), cardinality="multiple", mapping=mapping
    )
    return FieldXml(
        (declaration,), tuple(outcomes), legend + body, "".join(rules), tuple(feedback), "matchInteraction"
    )


def _target_columns(targets: Sequence[ChoiceOption], prose: ProseXml) -> tuple[list[str], str]:
    """Return the headings of the columns, and a list above the table where their texts would be too wide."""
    if sum(len(target.text.plain) for target in targets) <= _WIDEST_HEADINGS:
        return [prose.inline(target.text) for target in targets], ""
    lines = [element("p", f"({escaped(target.id)}) {prose.inline(target.text)}") for target in targets]
    return [escaped(f"({target.id})") for target in targets], "".join(lines)
