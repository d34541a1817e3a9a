"""The options that a source prints, against the key computed anew.

Pure arithmetic on numbers: :mod:`engine.lint.rules.printed` feeds it from a spec.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

__all__ = ["Recomputation", "recompute", "rounded"]

Numbers = tuple[float, ...]
_SLACK = 1e-9


def rounded(values: Sequence[float], decimals: int, rule: str = ROUND_HALF_EVEN) -> tuple[Decimal, ...]:
    """Round each value to so many decimals, on its decimal text and not on its binary form; 0 has no sign."""
    place = Decimal(1).scaleb(-decimals)
    return tuple(Decimal(f"{value:.12f}").quantize(place, rounding=rule) + 0 for value in values)


@dataclass(frozen=True, slots=True)
class Recomputation:
    """What the recomputed key says about printed options.

    Parameters
    ----------
    exact : tuple of float
        The key, unrounded.
    decimals : int
        Decimals to which the source rounds.
    distances : mapping of str to float
        Largest distance between an option's entries and the exact ones, by letter; infinite where
        the sizes differ.
    matches : tuple of str
        Letters whose option is the key rounded (half-even, half-up or half-down: on a tie all count).
    """

    exact: Numbers
    decimals: int
    distances: Mapping[str, float]
    matches: tuple[str, ...]

    @property
    def unit(self) -> float:
        """One unit of the last printed place."""
        return float(10**-self.decimals)

    @property
    def nearest(self) -> str:
        """Letter of the nearest option."""
        return min(self.distances, key=lambda letter: self.distances[letter])

    @property
    def erratum_kind(self) -> str | None:
        """The erratum that these options need: None when one of them is right."""
        if self.matches:
            return None
        within_unit = self.distances[self.nearest] <= self.unit + _SLACK
        return "nearest_option_misrounded" if within_unit else "no_correct_option"

    def describe(self) -> str:
        """Return exact value, rounded value and each option's distance, in one line."""
        exact = ", ".join(f"{value:.6f}" for value in self.exact)
        short = ", ".join(str(value) for value in rounded(self.exact, self.decimals))
        apart = ", ".join(f"({letter}) {distance:.6f}" for letter, distance in self.distances.items())
        return f"exact value ({exact}), rounded ({short}), distance of each printed option: {apart}"


def recompute(exact: Sequence[float], options: Mapping[str, Sequence[float]], decimals: int) -> Recomputation:
    """Compare printed options with the exact key.

    Parameters
    ----------
    exact : sequence of float
        The key's entries.
    options : mapping of str to sequence of float
        Printed entries by letter; at least one option.
    decimals : int
        Decimals to which the source rounds.

    Returns
    -------
    Recomputation
    """
    ways = {rounded(exact, decimals, rule) for rule in (ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_HALF_DOWN)}
    as_decimals = {letter: tuple(Decimal(str(x)) for x in option) for letter, option in options.items()}
    return Recomputation(
        exact=tuple(exact),
        decimals=decimals,
        distances={letter: _distance(exact, option) for letter, option in options.items()},
        matches=tuple(letter for letter, option in as_decimals.items() if option in ways),
    )


def _distance(exact: Sequence[float], option: Sequence[float]) -> float:
    if len(exact) != len(option):
        return float("inf")
    return max(abs(float(a) - float(b)) for a, b in zip(exact, option, strict=True))
