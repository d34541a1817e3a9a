"""Model values to JSON text and back, checked by pydantic on the way in."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from engine.errors import StoreError

__all__ = ["decode", "encode", "storable"]

T = TypeVar("T")


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def encode(value: Any) -> str:
    """Return `value` (a model dataclass) as ASCII JSON.

    ``NaN`` and infinities keep their JavaScript names and lone surrogates their escapes, so
    that a foreign text can never make a result unstorable.
    """
    plain = _adapter(type(value)).dump_python(value, mode="json")
    return json.dumps(plain, ensure_ascii=True, separators=(",", ":"))


def decode(kind: type[T], text: str, where: str) -> T:
    """Return the value of class `kind` that `text` holds.

    Raises
    ------
    StoreError
        When the text isn't what :func:`encode` wrote.
    """
    try:
        value: T = _adapter(kind).validate_python(json.loads(text))
    except (ValueError, ValidationError, RecursionError) as error:
        raise StoreError(
            f"a stored {kind.__name__} can't be read",
            where=where,
            got=str(error).splitlines()[0],
            next_step="restore the store from a backup; the row was changed by something else than Softmark",
        ) from error
    return value


def storable(text: str | None, limit: int | None = None) -> str | None:
    """Return a foreign text without what no database takes as text, cut to `limit` characters."""
    # Neither NUL (PostgreSQL) nor lone surrogates (both) can be stored as text.
    if text is None:
        return None
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")[:limit]
