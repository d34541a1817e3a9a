"""The fields of a QTI 3 item in which something is typed: numbers and words.

Which numbers count is found where the rules compare them: every bound that stands there is tried out, and
the widest interval around the key that earns all points is what counts as right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from engine.answers.token import TokenSpelling, normal_token
from engine.authoring.importing.foreign_question import (
    NOTHING,
    AcceptedNumber,
    ForeignQuestion,
    ForeseenAnswer,
    MarkedText,
    QuestionKind,
    TextForm,
    read_decimal,
)
from engine.authoring.importing.qti_fields import CLOSE, FieldTrials, as_share
from engine.authoring.importing.qti_item import QtiItem
from engine.authoring.importing.qti_marking import tolerance_of
from engine.authoring.importing.qti_values import MOST_NUMBER, QtiValue
from engine.authoring.importing.xml_tree import XmlElement

Interval = tuple[Decimal, Decimal]
# Beyond any interval of an item, and no number that somebody would type.
_NONSENSE = -98_765_432.125
_NO_WORD = "\u2603 no such word"
_LOWER, _UPPER = ("qti-gte", "qti-gt"), ("qti-lte", "qti-lt")
_MOST_INTERVALS = 400
_MOST_WORDS = 1_000
MOST_ACCEPTED = 50
"""Texts that one field may accept, as in the schema."""
_NEXT_TO = Decimal("1e-9")
_MOST_DECIMALS = 8  # as many as a field here can ask for


def number_places(
    item: QtiItem, variable_names: Sequence[str], element: XmlElement
) -> Iterator[tuple[str, Interval]]:
    """Yield the intervals that a condition states for responses, by their names.

    Parameters
    ----------
    item : QtiItem
    variable_names : sequence of str
    element : XmlElement
    """
    bounds: dict[str, dict[str, Decimal]] = {}
    for inner in [element, *element.inside()]:
        # looked through once more for each field and each answer that is tried: that adds up
        item.count()
        comparison = _comparison(item, inner, variable_names)
        if comparison is None:
            continue
        name, number = comparison
        if inner.tag in _LOWER or inner.tag in _UPPER:
            side = "low" if (inner.tag in _LOWER) == (inner.children[0].tag == "qti-variable") else "high"
            # a second bound of the same side begins another interval
            if side in bounds.setdefault(name, {}):
                bounds[name] = {}
            bounds[name][side] = number
            if len(bounds[name]) == 2:
                yield name, (bounds[name]["low"], bounds[name]["high"])
                bounds[name] = {}
        elif inner.tag == "qti-equal":
            below, above, is_share = tolerance_of(inner.attributes)
            scale = abs(number) if is_share else Decimal(1)
            yield name, (number - Decimal(str(below)) * scale, number + Decimal(str(above)) * scale)
        else:
            yield name, (number, number)


def _comparison(item: QtiItem, element: XmlElement, names: Sequence[str]) -> tuple[str, Decimal] | None:
    """Return response and number of a comparison, None if it compares something else."""
    if element.tag not in (*_LOWER, *_UPPER, "qti-equal", "qti-match", "qti-equal-rounded"):
        return None
    name, number = "", None
    for operand in element.children:
        identifier = operand.attributes.get("identifier", "")
        if operand.tag == "qti-variable" and identifier in names:
            name = identifier
        elif operand.tag == "qti-base-value":
            number = _number(operand.text)
        elif operand.tag == "qti-correct" and identifier in names:
            number = _declared_number(item, identifier)
    return (name, number) if name and number is not None else None


def _number(text: str) -> Decimal | None:
    number = read_decimal(text)
    return number if number is not None and abs(number) <= MOST_NUMBER else None


def _declared_number(item: QtiItem, name: str) -> Decimal | None:
    holder = item.responses[name].element.first("qti-correct-response")
    value = holder.first("qti-value") if holder is not None else None
    return _number(value.text) if value is not None else None


def joint_places(item: QtiItem, names: Sequence[str]) -> Iterator[tuple[dict[str, Interval], frozenset[str]]]:
    """Yield what each condition of the rules states for numbers, and the outcomes that it sets."""
    for element in item.rules:
        if element.tag in ("qti-response-if", "qti-response-else-if") and element.children:
            places: dict[str, Interval] = {}
            for name, interval in number_places(item, names, element.children[0]):
                # what is nearly right is stated as an alternative to what is right, which lies within it
                widest = places.setdefault(name, interval)
                if interval[1] - interval[0] > widest[1] - widest[0]:
                    places[name] = interval
            if places:
                rules = [e for e in element.children if e.tag == "qti-set-outcome-value"]
                yield places, frozenset(rule.attributes.get("identifier", "") for rule in rules)


@dataclass(slots=True)
class NumberFields:
    """All numbers of an item: their keys, and the intervals that the rules state.

    Parameters
    ----------
    item : QtiItem
    names : tuple of str
        Of their responses.
    """

    item: QtiItem
    names: tuple[str, ...]

    def key(self, name: str) -> Decimal | None:
        """Return the declared number, or the middle of the first interval that the rules state."""
        number = _declared_number(self.item, name)
        if number is not None:
            return number
        return next((_middle(p[name]) for p, _ in joint_places(self.item, self.names) if name in p), None)

    def answers(self, fixed: Mapping[str, QtiValue]) -> dict[str, QtiValue]:
        """Return the right answers of all numbers, with some of them replaced."""
        keys = {name: self.key(name) for name in self.names}
        return {name: float(key) for name, key in keys.items() if key is not None} | dict(fixed)

    def score(self, fixed: Mapping[str, QtiValue]) -> float:
        """Return the score for right numbers, some of them replaced, and nothing else answered."""
        return self.item.try_out(self.answers(fixed)).score

    def accepted(self, name: str) -> AcceptedNumber | None:
        """Return the widest interval around the key in which everything earns the full marks."""
        key = self.key(name)
        if key is None:
            return None
        full = self.score({})
        candidates = {(key, key)}
        for places, _ in joint_places(self.item, self.names):
            if name in places and places[name][0] <= key <= places[name][1]:
                candidates.add(places[name])
        for low, high in sorted(list(candidates)[:_MOST_INTERVALS], key=lambda c: c[0] - c[1]):
            # bounds that don't belong to what they bound are as good as those that lie next to them
            margin = (high - low) * _NEXT_TO
            for less in (Decimal(0), margin):
                numbers = (low + less, high - less, (low + high) / 2)
                if all(abs(self.score({name: float(number)}) - full) < CLOSE for number in numbers):
                    return AcceptedNumber((low + high) / 2, (high - low) / 2 - less)
        return AcceptedNumber(key)


def _middle(interval: Interval) -> Decimal:
    return (interval[0] + interval[1]) / 2


def _decimals(item: QtiItem, name: str) -> int:
    """Return how many decimals the declared key has: as many as are asked for."""
    holder = item.responses[name].element.first("qti-correct-response")
    words = "".join(value.text for value in holder.every("qti-value")) if holder is not None else ""
    match = re.search(r"\.([0-9]+)", words)
    return min(len(match[1]), _MOST_DECIMALS) if match is not None else 0


def _as_typed(interval: Interval, decimals: int) -> Decimal:
    """Return the middle of an interval with as few decimals as the key, or as it takes to stay in it."""
    middle = _middle(interval)
    for places in range(decimals, _MOST_DECIMALS + 1):
        typed = round(middle, places)
        if interval[0] <= typed <= interval[1]:
            return typed
    return middle


def mistakes_of(
    item: QtiItem, names: Sequence[str], always: frozenset[int]
) -> list[tuple[dict[str, Decimal], MarkedText]]:
    """Return wrong numbers that the rules know, with their feedback; each for one field or for several.

    Parameters
    ----------
    item : QtiItem
    names : sequence of str
        Responses of numbers.
    always : frozenset of int
        Feedbacks that say nothing about a certain number.
    """
    right = NumberFields(item, tuple(names)).answers({})
    # students round as the key is rounded, so that a mistake is what they would type
    digits = {name: _decimals(item, name) for name in names}
    mistakes: list[tuple[dict[str, Decimal], MarkedText]] = []
    explained: set[frozenset[int]] = set()
    for places, outcomes in joint_places(item, names):
        values = {name: _as_typed(interval, digits[name]) for name, interval in places.items()}
        made = item.try_out({name: float(value) for name, value in values.items()})
        nothing = item.try_out(dict.fromkeys(values, _NONSENSE))
        full = item.try_out({name: value for name, value in right.items() if name in values})
        # where two mistakes lie near each other, both are shown: the condition's own rules say which is its
        visible = frozenset(
            n for n in made.visible - always - nothing.visible if item.feedbacks[n].outcome in outcomes
        )
        # single entries of a mistake may be right
        if visible and visible not in explained and made.score < full.score - CLOSE:
            explained.add(visible)
            mistakes.append((values, item.words(visible)))
    return mistakes


def number_field(
    question: ForeignQuestion,
    name: str,
    fields: NumberFields,
    mistakes: Sequence[tuple[dict[str, Decimal], MarkedText]],
    trials: FieldTrials,
) -> tuple[ForeignQuestion, float]:
    """Return a number, and what it earns alone.

    Raises
    ------
    UnreadRules
        The rules can't be carried out here.
    """
    accepted = fields.accepted(name)
    full = trials.trial(float(fields.key(name) or 0)).score
    answers = []
    if accepted is not None:
        digits = MarkedText(f"{accepted.value:f}", TextForm.PLAIN)
        praise = trials.trial(float(accepted.value)).visible
        text = trials.item.feedback(praise) if praise else NOTHING
        answers.append(ForeseenAnswer(digits, Fraction(1), text, question.place, accepted))
    for values, feedback in mistakes:
        if name in values:
            digits = MarkedText(f"{values[name]:f}", TextForm.PLAIN)
            number = AcceptedNumber(values[name])
            answers.append(ForeseenAnswer(digits, Fraction(0), feedback, question.place, number))
    other = trials.trial(_NONSENSE).visible - trials.trial(None).visible
    if other:
        star = MarkedText("*", TextForm.PLAIN)
        answers.append(ForeseenAnswer(star, Fraction(0), trials.item.feedback(other), question.place))
    is_whole = trials.variable.kind == "integer"
    return replace(question, kind=QuestionKind.NUMBER, answers=tuple(answers), whole=is_whole), full


def near_share_of(fields: NumberFields, names: Sequence[str]) -> Fraction:
    """Return what numbers earn that are nearly right: the rules state a wider interval for part of it."""
    wrong = dict.fromkeys(fields.names, _NONSENSE)
    first = names[0]
    accepted = fields.accepted(first)
    if accepted is None:
        return Fraction(0)
    inner = accepted.value - accepted.tolerance, accepted.value + accepted.tolerance
    for places, _ in joint_places(fields.item, fields.names):
        low, high = places.get(first, inner)
        if low > inner[0] or inner[1] > high or (low, high) == inner:
            continue
        side = 0 if low < inner[0] else 1
        edges = {name: float(places[name][side]) for name in names if name in places}
        keys = {name: value for name, value in fields.answers({}).items() if name in edges}
        gain = fields.item.try_out({**wrong, **keys}).score
        share = as_share(fields.item.try_out({**wrong, **edges}).score, gain)
        if 0 < share < 1:
            return share
    return Fraction(0)


def words_field(question: ForeignQuestion, trials: FieldTrials) -> tuple[ForeignQuestion, float]:
    """Return a line of text, and what it earns.

    Raises
    ------
    UnreadRules
        The rules can't be carried out here.
    """
    texts = list(dict.fromkeys(_written(trials)))
    tried = {text: trials.trial(text) for text in texts[:_MOST_WORDS]}
    full = max((made.score for made in tried.values()), default=0.0)
    common = trials.trial(_NO_WORD).visible
    shares = {text: as_share(made.score, full) for text, made in tried.items()}
    right = [text for text, share in shares.items() if share == 1]
    # a mapping states for each entry whether capitals matter; the first right text decides here
    is_cased = bool(right) and trials.trial(right[0].swapcase()).score < full - CLOSE
    known = [text for text, made in tried.items() if shares[text] == 0 and made.visible - common]
    near = [share for text, share in shares.items() if 0 < share < 1]
    accepted = without_spellings(right, known, is_cased, is_own=trials.item.is_own)
    answers = [_word(text, Fraction(1), NOTHING, question) for text in accepted]
    answers += [
        _word(text, Fraction(0), trials.item.words(tried[text].visible - common), question) for text in known
    ]
    # in our own files nothing but the right sequences in another order earns a share
    is_order = trials.item.is_own and len(set(near)) == 1
    if not is_order:
        partly = [(text, share) for text, share in shares.items() if 0 < share < 1]
        answers += [
            _word(text, share, trials.item.words(tried[text].visible - common), question)
            for text, share in partly
        ]
    return replace(
        question,
        kind=QuestionKind.TOKEN,
        answers=tuple(answers),
        case_sensitive=is_cased,
        near_share=near[0] if is_order else Fraction(0),
    ), full


def _word(text: str, share: Fraction, feedback: MarkedText, question: ForeignQuestion) -> ForeseenAnswer:
    # a star stands for any answer elsewhere, and is only itself in QTI
    plain = MarkedText(text.replace("*", "\\*"), TextForm.PLAIN)
    return ForeseenAnswer(plain, share, feedback, question.place)


def _written(trials: FieldTrials) -> Iterator[str]:
    """Yield every text that the declaration or the rules compare with the response."""
    correct = trials.variable.correct
    if isinstance(correct, str):
        yield correct
    mapping = trials.variable.element.first("qti-mapping")
    for entry in mapping.every("qti-map-entry") if mapping is not None else ():
        yield entry.attributes.get("map-key", "")
    for element in trials.item.rules:
        if element.tag in ("qti-string-match", "qti-match"):
            names = [o.attributes.get("identifier") for o in element.children if o.tag == "qti-variable"]
            if trials.name in names:
                yield from (o.text for o in element.children if o.tag == "qti-base-value")


def without_spellings(
    right: Sequence[str], wrong: Sequence[str], is_cased: bool, *, is_own: bool
) -> list[str]:
    """Return accepted texts without those that our own field reads as one of the texts before them.

    Parameters
    ----------
    right, wrong : sequence of str
        Texts that earn all points, and those that known mistakes give.
    is_cased : bool
        Whether capital letters matter.
    is_own : bool
        Whether our own export lists them.
    """
    texts: list[str] = []
    tokens: set[str] = set()
    for text in right:
        if not normal_token(text, is_cased):
            continue
        # so many are refused anyway, and each is compared with all before it
        if 0 < len(texts) <= MOST_ACCEPTED:
            spelling = TokenSpelling.of(texts, wrong, case_sensitive=is_cased)
            reading = spelling.reading_of(text)
            if reading is not None and reading in [spelling.reading_of(k) for k in texts]:
                continue
            # our export also lists sequences that run into each other, which our own field asks about
            if is_own and spelling.kind == "sequences" and _bare(text) in tokens:
                continue
        texts.append(text)
        tokens.add(_bare(text))
    return texts


def _bare(text: str) -> str:
    return "".join(character for character in text if character.isalnum())
