"""Model values to JSON text and back, checked by pydantic when they are read.

What a store holds was written by any earlier version, or by somebody with a database tool: a text that isn't
a value of its class is a :class:`StoreError` with a next step, never a traceback or a wrong mark.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from engine.errors import StoreError

T = TypeVar("T")

# Building an adapter takes milliseconds, and a batch encodes thousands of values of a few classes.
_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def encode(value: Any) -> str:
    """Return `value` (a model dataclass) as ASCII JSON.

    ``NaN`` and infinities keep their JavaScript names and lone surrogates their escapes, so that no foreign
    text makes a result unstorable.
    """
    plain = _adapter(type(value)).dump_python(value, mode="json")
    return json.dumps(plain, ensure_ascii=True, separators=(",", ":"))


def decode(kind: type[T], text: str, where: str) -> T:
    """Return the value of class `kind` that `text` holds.

    Raises
    ------
    StoreError
        The text isn't what :func:`encode` wrote.
    """
    try:
        value: T = _adapter(kind).validate_python(json.loads(text))
    except (ValueError, ValidationError, RecursionError) as error:  # deeply nested text is damage too
        raise StoreError(
            f"a stored {kind.__name__} can't be read",
            where=where,
            got=str(error).splitlines()[0],
            next_step="restore the store from a backup; the row was changed by something else than Softmark",
        ) from error
    return value


def storable(text: str | None, limit: int | None = None) -> str | None:
    """Return a foreign text that every database can store, cut to `limit` characters."""
    # PostgreSQL refuses NUL, and both databases lone surrogates.
    if text is None:
        return None
    # Replaced, not refused: an odd file name must never cost a student the mark.
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")[:limit]
