"""How a function gets into the expression language.

A module of this folder names its group once and decorates its functions::

    function = FunctionGroup("Arithmetic")


    @function(exact=True)
    def floor(x: Any) -> Any: ...  # Return the greatest whole number at or below.

Nothing else has to be written down: a problem file may call ``floor`` from then on, and the reference page
lists it with the arguments of its signature and the first paragraph of its docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from engine.expressions.values import Array


class Rounded(Protocol):
    """What writes an intermediate down on paper."""

    def __call__(self, value: Array, *, added: int | None = None) -> Array:
        """Return `value` as written down; then summed along the axis `added`, which rounds nothing more."""
        ...


F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class LanguageFunction:
    """One function of the language.

    Parameters
    ----------
    name : str
    group : str
        The heading under which the reference page lists it.
    call : callable
        What keys are computed with.
    by_hand : callable or None
        The same value as somebody computes it on paper: ``by_hand(rounded, *args)`` passes every
        intermediate that is written down through ``rounded``.  None: the result is the only intermediate.
    exact : bool
        It moves or compares numbers without computing any, so nothing gets rounded.
    """

    name: str
    group: str
    call: Callable[..., Any]
    by_hand: Callable[..., Any] | None
    exact: bool


FUNCTIONS: dict[str, LanguageFunction] = {}


@dataclass(frozen=True, slots=True)
class FunctionGroup:
    """A heading of the reference page, called to decorate the functions under it."""

    title: str

    def __call__(
        self, name: str | None = None, *, by_hand: Callable[..., Any] | None = None, exact: bool = False
    ) -> Callable[[F], F]:
        """Register a function under its own or another name; see :class:`LanguageFunction`."""

        def register(call: F) -> F:
            language_name = name or call.__name__
            if language_name in FUNCTIONS:
                raise ValueError(f"two functions named {language_name}")
            FUNCTIONS[language_name] = LanguageFunction(language_name, self.title, call, by_hand, exact)
            return call

        return register


def arguments_of(call: Callable[..., Any]) -> str:
    """Return the arguments of a function as authors write them: ``x, decimals=0``."""
    parameters = inspect.signature(call).parameters.values()
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return str(inspect.Signature(plain))[1:-1]  # without its parentheses
