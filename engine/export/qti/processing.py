"""Response processing: from what a candidate entered to ``SCORE`` and to the feedback that is shown.

Only what both players that we test in compute alike is used. So numbers are compared by ``gte`` and ``lte``
(one player ignores a tolerance), a place of an order is named by a variable (one ignores a number there), a
pair is never a base value (one doesn't know it), and nothing is read before it is known not to be null (one
stops there).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from engine.export.qti.xml_pieces import element, escaped

SCORE = "SCORE"


def number_text(value: float) -> str:
    """Return a score or a share in decimals, never with an exponent.

    Examples
    --------
    >>> number_text(1.0), number_text(1 / 3), number_text(0.5)
    ('1', '0.333333333', '0.5')
    """
    return f"{round(value, 9):.9f}".rstrip("0").rstrip(".") or "0"


@lru_cache(maxsize=4096)
def base_value(kind: str, value: str | int) -> str:
    """Return a constant of a base type."""
    return element("qti-base-value", escaped(str(value)), base_type=kind)


def points_value(points: float) -> str:
    """Return points as a constant."""
    return base_value("float", number_text(points))


@lru_cache(maxsize=4096)
def variable(name: str) -> str:
    """Return the value of a variable."""
    return element("qti-variable", identifier=name)


def set_value(name: str, expression: str) -> str:
    """Return a rule that sets an outcome."""
    return element("qti-set-outcome-value", expression, identifier=name)


def add_value(name: str, expression: str) -> str:
    """Return a rule that adds to an outcome."""
    return set_value(name, element("qti-sum", variable(name), expression))


def feedback_outcome(identifier: str) -> str:
    """Return the name of the outcome that shows a feedback.

    Each has one of its own: one player keeps only the last of several values that were added to an outcome.
    """
    return f"SHOW-{identifier}"


def give_feedback(*identifiers: str) -> str:
    """Return a rule for each feedback that is to be shown."""
    return "".join(
        [set_value(feedback_outcome(name), base_value("identifier", name)) for name in identifiers]
    )


def both(*conditions: str) -> str:
    """Return whether all conditions hold."""
    return conditions[0] if len(conditions) == 1 else element("qti-and", *conditions)


def either(*conditions: str) -> str:
    """Return whether one of the conditions holds."""
    return conditions[0] if len(conditions) == 1 else element("qti-or", *conditions)


def negated(condition: str) -> str:
    """Return whether a condition doesn't hold."""
    return element("qti-not", condition)


@lru_cache(maxsize=4096)
def is_answered(name: str) -> str:
    """Return whether a response isn't null."""
    return negated(element("qti-is-null", variable(name)))


def is_key(name: str) -> str:
    """Return whether a response is the correct one, as it was declared."""
    return element("qti-match", variable(name), element("qti-correct", identifier=name))


@lru_cache(maxsize=4096)
def is_picked(option: str, name: str) -> str:
    """Return whether an option is among those of a response with several."""
    return element("qti-member", base_value("identifier", option), variable(name))


@lru_cache(maxsize=4096)
def is_choice(option: str, name: str) -> str:
    """Return whether an option is the response."""
    return element("qti-match", variable(name), base_value("identifier", option))


@lru_cache(maxsize=4096)
def has_counted(name: str, least: int) -> str:
    """Return whether a counter has reached a number."""
    return element("qti-gte", variable(name), base_value("integer", least))


def lies_between(name: str, low: str, high: str, kind: str = "float") -> str:
    """Return whether a number that was entered lies in a closed interval.

    One player takes what is empty or made of blanks for 0: nothing counts unless it is there, and where 0
    lies in the interval, unless it equals itself, which blanks don't.
    """
    conditions = [
        is_answered(name),
        element("qti-gte", variable(name), base_value(kind, low)),
        element("qti-lte", variable(name), base_value(kind, high)),
    ]
    if float(low) <= 0 <= float(high):
        conditions.append(element("qti-equal", variable(name), variable(name)))
    return both(*conditions)


def choose(*branches: tuple[str, str], otherwise: str = "") -> str:
    """Return a rule with branches, of which the first whose condition holds is taken.

    Parameters
    ----------
    *branches : (str, str)
        Condition and rules; a branch without rules still ends the search.
    otherwise : str
        Rules for where none holds.
    """
    if not branches:
        return otherwise
    pieces = [
        element("qti-response-else-if" if number else "qti-response-if", condition, rules)
        for number, (condition, rules) in enumerate(branches)
    ]
    if otherwise:
        pieces.append(element("qti-response-else", otherwise))
    return element("qti-response-condition", *pieces)


def ladder(counter: str, outcome: str, steps: Iterable[tuple[int, float]]) -> str:
    """Return a rule that sets points by a counter: the first number that it has reached counts.

    Parameters
    ----------
    counter, outcome : str
    steps : iterable of (int, float)
        Numbers, from the greatest down, and their points.
    """
    return choose(
        *[(has_counted(counter, least), set_value(outcome, points_value(points))) for least, points in steps]
    )


def count_picked(counter: str, name: str, options: Sequence[str], by: int) -> str:
    """Return rules that add to a counter for each of some options that was picked."""
    return "".join(
        [
            choose((is_picked(option, name), add_value(counter, base_value("integer", by))))
            for option in options
        ]
    )
