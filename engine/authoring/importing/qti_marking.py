"""What a QTI 3 item gives for an answer: its response processing, carried out.

Rules can be written in a hundred ways, and what an item is worth follows from what they do. So they are not
compared with patterns: the reader tries answers, and sees which score and which feedback comes out. Only
what needs no chance, no regular expression of a stranger's and no other program is carried out.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from engine.authoring.importing.qti_values import (
    MOST_NUMBER,
    QtiPicks,
    QtiSingle,
    QtiValue,
    QtiVariable,
    value_from,
)
from engine.authoring.importing.xml_tree import XmlElement
from engine.text.words import clean_line

# Steps of all trials of one item together: the longest of our own items takes a quarter of them.
MAX_STEPS = 1_000_000
# Of a whole package: 5,000 items as ours take nine tenths of them, which is about two minutes.
MAX_PACKAGE_STEPS = 100_000_000
_TEMPLATES = {"match_correct": "match", "map_response": "map"}


class UnreadRules(Exception):  # noqa: N818 - a fact about an item, not a mistake
    """Response processing that isn't carried out here: the text says what it holds."""


class SpentBudget(UnreadRules):
    """The trials of a whole package have taken as long as they may."""


@dataclass(slots=True)
class TrialBudget:
    """How many steps the trials of a package may still take.

    A single item is bounded, but a package may hold thousands of the longest.

    Parameters
    ----------
    left : int
    """

    left: int = field(default_factory=lambda: MAX_PACKAGE_STEPS)

    def for_item(self) -> Callable[..., None]:
        """Return what steps of one item's trials are counted with, one or several at a time.

        It raises :class:`UnreadRules` after too many steps of the item, and :class:`SpentBudget` after too
        many of the package.
        """
        steps = 0

        def count(more: int = 1) -> None:
            nonlocal steps
            steps += more
            self.left -= more
            if self.left < 0:
                raise SpentBudget("more rules than can be tried out")
            if steps > MAX_STEPS:
                raise UnreadRules("more rules than can be tried out")

        return count


def unread_reason(problem: Exception) -> tuple[str, str]:
    """Return why an item is skipped, and what to do, after an exception that says so."""
    reason, step = str(problem), getattr(problem, "next_step", "")
    if isinstance(problem, SpentBudget):
        return "the rules of its package take too long to be tried out", "export fewer questions at a time"
    if isinstance(problem, UnreadRules):
        reason = f"its rules hold {clean_line(reason, 80)}, which isn't carried out here"
        step = "write the item by hand: grade new item ID"
    return reason, step


class _Exit(Exception):  # noqa: N818 - ends the rules, as the rule of this name does
    pass


def _template_name(rules: XmlElement) -> str:
    return rules.attributes.get("template", "").rpartition("/")[2].removesuffix(".xml")


@dataclass(slots=True)
class QtiMarking:
    """The rules of an item.

    Parameters
    ----------
    responses, outcomes : mapping of str to QtiVariable
    rules : XmlElement or None
        The response processing.
    count : callable
        Called for each step.
    """

    responses: Mapping[str, QtiVariable]
    outcomes: Mapping[str, QtiVariable]
    rules: XmlElement | None
    count: Callable[..., None]
    _values: dict[str, QtiValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name = _template_name(self.rules) if self.rules is not None else ""
        if name and name not in _TEMPLATES:
            raise UnreadRules(f"the template '{name[:60]}'")
        if name and set(self.responses) != {"RESPONSE"}:
            raise UnreadRules("a template for a response that has another name")

    def outcomes_for(self, answers: Mapping[str, QtiValue]) -> dict[str, QtiValue]:
        """Return all outcomes after an answer.

        Parameters
        ----------
        answers : mapping of str to QtiValue
            By response; what isn't there is left unanswered.

        Raises
        ------
        UnreadRules
            The rules hold something that isn't carried out here, or take too long.
        """
        self._values = {name: variable.default for name, variable in self.outcomes.items()}
        for name, variable in self.outcomes.items():
            if self._values[name] is None and variable.kind in ("float", "integer"):
                self._values[name] = 0.0
        self._values.update(dict.fromkeys(self.responses, None))
        self._values.update(answers)
        if self.rules is None:
            # whoever delivers such an item compares answers with the key, if it compares them at all
            score = sum(self._undirected(variable) for variable in self.responses.values())
            return {**{name: self._values[name] for name in self.outcomes}, "SCORE": score}
        template = self.rules.attributes.get("template", "")
        if template:
            self._follow_template(_TEMPLATES[_template_name(self.rules)])
        else:
            with contextlib.suppress(_Exit):
                self._carry_out(self.rules.children)
        return {name: self._values[name] for name in self.outcomes}

    def _undirected(self, variable: QtiVariable) -> float:
        """Return what a response earns that no rule speaks of: by its mapping, or all for the key."""
        if variable.element.first("qti-mapping") is not None:
            mapped = self._mapped(variable)
            return mapped if isinstance(mapped, float) else 0.0
        return float(_same(self._values[variable.name], variable.correct) is True)

    def _follow_template(self, name: str) -> None:
        variable = self.responses["RESPONSE"]
        if name == "map":
            self._values["SCORE"] = self._mapped(variable)
        else:
            self._values["SCORE"] = 1.0 if _same(self._values["RESPONSE"], variable.correct) else 0.0

    def _carry_out(self, rules: Sequence[XmlElement]) -> None:
        for rule in rules:
            self.count()
            if rule.tag == "qti-response-condition":
                self._choose(rule)
            elif rule.tag == "qti-set-outcome-value":
                name = rule.attributes.get("identifier", "")
                if name not in self.outcomes or len(rule.children) != 1:
                    raise UnreadRules("a rule that sets no outcome")
                self._values[name] = self._value(rule.children[0])
            elif rule.tag == "qti-exit-response":
                raise _Exit
            elif rule.tag == "qti-response-processing-fragment":
                self._carry_out(rule.children)
            else:
                raise UnreadRules(f"<{rule.tag[:60]}>")

    def _choose(self, rule: XmlElement) -> None:
        for branch in rule.children:
            self.count()
            if branch.tag == "qti-response-else":
                self._carry_out(branch.children)
                return
            if branch.tag not in ("qti-response-if", "qti-response-else-if") or not branch.children:
                raise UnreadRules(f"<{branch.tag[:60]}>")
            if self._value(branch.children[0]) is True:
                self._carry_out(branch.children[1:])
                return

    def _value(self, expression: XmlElement) -> QtiValue:
        self.count()
        tag, attributes = expression.tag, expression.attributes
        name = attributes.get("identifier", "")
        if tag == "qti-base-value":
            return value_from(expression.text, attributes.get("base-type", "identifier"))
        if tag in ("qti-variable", "qti-correct", "qti-default", "qti-map-response"):
            return self._of_variable(tag, name)
        if tag == "qti-null":
            return None
        if tag == "qti-index":
            return self._indexed(expression)
        operate = _OPERATORS.get(tag)
        if operate is None:
            raise UnreadRules(f"<{tag[:60]}>")
        return operate([self._value(child) for child in expression.children], attributes)

    def _of_variable(self, tag: str, name: str) -> QtiValue:
        if name not in self._values:
            raise UnreadRules("a variable that isn't declared")
        if tag == "qti-variable":
            return self._values[name]
        variable = self.responses.get(name) or self.outcomes[name]
        if tag == "qti-map-response":
            return self._mapped(variable)
        return variable.correct if tag == "qti-correct" else variable.default

    def _indexed(self, expression: XmlElement) -> QtiValue:
        at = expression.attributes.get("n", "")
        number = self._values.get(at) if not at.isdecimal() else float(at[:9])
        container = self._value(expression.children[0]) if expression.children else None
        # n may be the name of a variable instead of a number
        if not isinstance(container, list) or not isinstance(number, float):
            return None
        return container[int(number) - 1] if 1 <= number <= len(container) else None

    def _mapped(self, variable: QtiVariable) -> QtiValue:
        mapping = variable.element.first("qti-mapping")
        if mapping is None:
            raise UnreadRules("a response without its mapping")
        value = self._values[variable.name]
        picked = value if isinstance(value, list) else [] if value is None else [value]
        total = 0.0
        for single in dict.fromkeys(picked):
            total += self._entry(mapping, single, variable.kind)
        for bound, choose in (("lower-bound", max), ("upper-bound", min)):
            if (limit := value_from(mapping.attributes.get(bound, ""), "float")) is not None:
                total = choose(total, float(limit))
        return total

    def _entry(self, mapping: XmlElement, value: QtiSingle, kind: str) -> float:
        for entry in mapping.every("qti-map-entry"):
            self.count()
            key = value_from(entry.attributes.get("map-key", ""), kind)
            is_equal = key == value
            if entry.attributes.get("case-sensitive") == "false" and not is_equal:
                is_equal = str(key).casefold() == str(value).casefold()
            if is_equal:
                return float(value_from(entry.attributes.get("mapped-value", ""), "float") or 0.0)
        return float(value_from(mapping.attributes.get("default-value", ""), "float") or 0.0)


Operands: TypeAlias = list[QtiValue]
Attributes: TypeAlias = Mapping[str, str]


def _same(first: QtiValue, second: QtiValue) -> bool | None:
    if first is None or second is None:
        return None
    are_lists = isinstance(first, list) and isinstance(second, list)
    if are_lists and (isinstance(first, QtiPicks) or isinstance(second, QtiPicks)):
        return sorted(map(str, first)) == sorted(map(str, second))  # type: ignore[arg-type]
    return first == second


def _numbers(operands: Operands) -> list[float] | None:
    flat: list[float] = []
    for operand in operands:
        for value in operand if isinstance(operand, list) else [operand]:
            if isinstance(value, bool) or not isinstance(value, int | float):
                return None
            flat.append(float(value))
    return flat


def _of_numbers(operate: Callable[[list[float]], float | bool], least: int = 1) -> Callable[..., QtiValue]:
    def call(operands: Operands, _: Attributes) -> QtiValue:
        numbers = _numbers(operands)
        if numbers is None or len(numbers) < least:
            return None
        try:
            value = operate(numbers)
        except (ArithmeticError, ValueError):
            return None
        is_finite = isinstance(value, bool) or (isinstance(value, float) and abs(value) <= MOST_NUMBER)
        return value if is_finite else None

    return call


def _and(operands: Operands, _: Attributes) -> QtiValue:
    if any(operand is False for operand in operands):
        return False
    return None if any(operand is None for operand in operands) else True


def _or(operands: Operands, _: Attributes) -> QtiValue:
    if any(operand is True for operand in operands):
        return True
    return None if any(operand is None for operand in operands) else False


def _not(operands: Operands, _: Attributes) -> QtiValue:
    return not operands[0] if operands and isinstance(operands[0], bool) else None


def _is_null(operands: Operands, _: Attributes) -> QtiValue:
    return not operands or operands[0] is None or operands[0] in ("", [])


def _match(operands: Operands, _: Attributes) -> QtiValue:
    return _same(operands[0], operands[1]) if len(operands) == 2 else None


def _string_match(operands: Operands, attributes: Attributes) -> QtiValue:
    if len(operands) != 2 or None in operands:
        return None
    first, second = map(str, operands)
    if attributes.get("case-sensitive") == "false":
        first, second = first.casefold(), second.casefold()
    return second in first if attributes.get("substring") == "true" else first == second


def tolerance_of(attributes: Mapping[str, str]) -> tuple[float, float, bool]:
    """Return how far below and above a number counts as equal, and whether that is a share of it."""
    words = attributes.get("tolerance", "0").split()[:2] or ["0"]
    sides = [float(value_from(word, "float") or 0.0) for word in words]
    mode = attributes.get("tolerance-mode", "exact")
    if mode == "exact":
        return 0.0, 0.0, False
    share = 0.01 if mode == "relative" else 1.0
    return sides[0] * share, sides[-1] * share, mode == "relative"


def _equal(operands: Operands, attributes: Attributes) -> QtiValue:
    numbers = _numbers(operands)
    if numbers is None or len(numbers) != 2:
        return None
    below, above, is_share = tolerance_of(attributes)
    # the first number is the one that is meant, the second one what is compared with it
    key, other = numbers
    scale = abs(key) if is_share else 1.0
    return key - below * scale <= other <= key + above * scale


def _member(operands: Operands, _: Attributes) -> QtiValue:
    if len(operands) != 2 or operands[0] is None or not isinstance(operands[1], list):
        return None
    return operands[0] in operands[1]


def _contains(operands: Operands, _: Attributes) -> QtiValue:
    if len(operands) != 2 or not all(isinstance(operand, list) for operand in operands):
        return None
    whole, part = operands
    return all(value in whole for value in part)  # type: ignore[union-attr, operator]


def _container(operands: Operands, _: Attributes) -> QtiValue:
    values = QtiPicks()
    for operand in operands:
        values += operand if isinstance(operand, list) else [] if operand is None else [operand]
    return values or None


def _ordered(operands: Operands, attributes: Attributes) -> QtiValue:
    values = _container(operands, attributes)
    return list(values) if isinstance(values, list) else None


def _size(operands: Operands, _: Attributes) -> QtiValue:
    return float(len(operands[0])) if operands and isinstance(operands[0], list) else 0.0


_OPERATORS: dict[str, Callable[[Operands, Attributes], QtiValue]] = {
    "qti-and": _and, "qti-or": _or, "qti-not": _not, "qti-is-null": _is_null, "qti-match": _match,
    "qti-string-match": _string_match, "qti-equal": _equal, "qti-member": _member, "qti-contains": _contains,
    "qti-multiple": _container, "qti-ordered": _ordered, "qti-container-size": _size,
    "qti-gt": _of_numbers(lambda n: n[0] > n[1], 2), "qti-gte": _of_numbers(lambda n: n[0] >= n[1], 2),
    "qti-lt": _of_numbers(lambda n: n[0] < n[1], 2), "qti-lte": _of_numbers(lambda n: n[0] <= n[1], 2),
    "qti-sum": _of_numbers(math.fsum), "qti-product": _of_numbers(math.prod),
    "qti-subtract": _of_numbers(lambda n: n[0] - n[1], 2),
    "qti-divide": _of_numbers(lambda n: n[0] / n[1], 2),
    "qti-min": _of_numbers(min), "qti-max": _of_numbers(max),
    "qti-integer-to-float": _of_numbers(lambda n: n[0]),
    "qti-truncate": _of_numbers(lambda n: float(math.trunc(n[0]))),
    "qti-round": _of_numbers(lambda n: float(math.floor(n[0] + 0.5))),
    "qti-integer-divide": _of_numbers(lambda n: float(n[0] // n[1]), 2),
    "qti-integer-modulus": _of_numbers(lambda n: n[0] % n[1], 2),
}  # fmt: skip
