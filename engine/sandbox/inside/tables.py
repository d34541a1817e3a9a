"""A table of arguments and results, as a function that student code can call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .wire import TableNode

__all__ = ["make_function"]


def make_function(node: TableNode, fresh: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function that looks its arguments up.

    Parameters
    ----------
    node : TableNode
        Each row's first half is the tuple of positional arguments.
    fresh : callable
        Copies a result, so that student code can't change the table.

    Returns
    -------
    callable
        Keyword arguments count in the order in which they are given.  Numbers and arrays are
        compared by value, not by type: a token may be an ``int`` or the 0-d array of an argmax.
        Unknown arguments raise `LookupError`.
    """
    rows = {_key(arguments): result for arguments, result in node.rows}
    name = node.name

    def table(*args: Any, **kwargs: Any) -> Any:
        key = _key((*args, *kwargs.values()))
        if key not in rows:
            raise LookupError(f"{name}() was called with arguments that the exercise doesn't define")
        return fresh(rows[key])

    table.__name__ = table.__qualname__ = name
    return table


def _key(value: Any) -> Any:
    """Return a hashable stand-in that is equal for equal values."""
    if hasattr(value, "detach"):
        value = value.detach().tolist()
    elif hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(_key(item) for item in value)
    if isinstance(value, dict):
        return tuple(sorted((str(k), _key(v)) for k, v in value.items()))
    return value
