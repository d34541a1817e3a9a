"""How a function gets into the expression language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["FUNCTIONS", "LanguageFunction", "Rounded", "function"]

Rounded: TypeAlias = "Callable[[Tensor], Tensor]"
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class LanguageFunction:
    """One function of the language.

    Parameters
    ----------
    name : str
    call : callable
        What keys are computed with.
    by_hand : callable or None
        The same value as somebody computes it on paper: ``by_hand(rounded, *args)`` passes every
        intermediate that is written down through ``rounded``.  None: the result is the only intermediate.
    exact : bool
        It moves or compares numbers without computing any, so nothing gets rounded.
    """

    name: str
    call: Callable[..., Any]
    by_hand: Callable[..., Any] | None
    exact: bool


FUNCTIONS: dict[str, LanguageFunction] = {}


def function(
    name: str | None = None, *, by_hand: Callable[..., Any] | None = None, exact: bool = False
) -> Callable[[F], F]:
    """Register a function of the expression language under its own or another name."""

    def register(call: F) -> F:
        known = name or call.__name__
        if known in FUNCTIONS:
            raise ValueError(f"two functions named {known}")
        FUNCTIONS[known] = LanguageFunction(known, call, by_hand, exact)
        return call

    return register
