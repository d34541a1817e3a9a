"""A decoder's ``step(y, s) -> (P, s_new)``: a table as a function that student code can call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .wire import StepNode

__all__ = ["make_step"]


def make_step(node: StepNode, fresh: Callable[[Any], Any]) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Return the step function of a table.

    A state is the tuple of all tokens that were fed so far, the empty one at first. Which row comes
    back is told by the new state without its first token (the start symbol); tokens that lead to no
    row get the last one, so that wrong code, too, gets an answer.

    Parameters
    ----------
    node : StepNode
    fresh : callable
        Copies a row, so that student code can't change the table.

    Returns
    -------
    callable
        Tokens and states are compared by value, not by type: a token may be an ``int`` or the 0-d
        array of an argmax. What is no token, or no state that the function gave, raises `LookupError`.
    """
    keys = [tuple(token for token in row if token >= 0) for row in node.tokens.tolist()]
    rows = {key: node.chances[place] for place, key in enumerate(keys)}
    name, other = node.name, node.chances[-1]

    def step(y: Any, s: Any) -> tuple[Any, Any]:
        token, state = _plain(y), _plain(s)
        if type(token) is not int:
            raise LookupError(f"{name}() was called with something else than one token")
        if type(state) is not tuple:
            raise LookupError(f"{name}() was called with a state that it didn't give")
        state = (*state, token)
        return fresh(rows.get(state[1:], other)), state

    step.__name__ = step.__qualname__ = name
    return step


def _plain(value: Any) -> Any:
    """Return a token as an int and a state as a tuple, whatever they are wrapped in."""
    if hasattr(value, "detach"):
        value = value.detach()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        found = tuple(_plain(item) for item in value)
        return found if all(type(item) is int for item in found) else None
    if type(value) in (int, float, bool) and value == value // 1:  # not for infinities and NaN
        return int(value)
    return None
