"""Finds what a pydantic model allows at a path, to say what was expected and to suggest near names."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo

from engine.spec.places import Loc

__all__ = ["field_at", "keys_at", "models_at"]


def models_at(model: type[BaseModel], loc: Loc) -> list[type[BaseModel]]:
    """Return the models that may stand at a pydantic error's ``loc``.

    Tags of unions in ``loc`` (``"vector"``, ``"list"``) choose among several.
    """
    return [kind for kind in _types_at(model, loc) if _is_model(kind)]


def keys_at(model: type[BaseModel], loc: Loc) -> list[str]:
    """Return the keys that a mapping at ``loc`` may have, as they are written in a file."""
    keys = [
        _written_name(name, field)
        for kind in models_at(model, loc)
        for name, field in kind.model_fields.items()
    ]
    return list(dict.fromkeys(keys))


def field_at(model: type[BaseModel], loc: Loc) -> FieldInfo | None:
    """Return the field that the last key of ``loc`` names, None where that is no key of a model."""
    if not loc or not isinstance(loc[-1], str):
        return None
    for kind in models_at(model, loc[:-1]):
        for name, field in kind.model_fields.items():
            if loc[-1] in (name, field.alias):
                return field
    return None


def _types_at(model: type[BaseModel], loc: Loc) -> list[Any]:
    current: list[Any] = [model]
    for part in loc:
        inner = [found for kind in current for found in _step(kind, part)]
        if inner:
            current = inner
        elif isinstance(part, str):
            current = [kind for kind in current if _has_tag(kind, part)] or current
    return current


def _step(kind: Any, part: int | str) -> list[Any]:
    """Return the types one key or position further in, none if ``kind`` has no such place."""
    if _is_model(kind) and issubclass(kind, RootModel):
        return [
            found for inner in _flat(kind.model_fields["root"].annotation) for found in _step(inner, part)
        ]
    if _is_model(kind):
        for name, field in kind.model_fields.items():
            if part in (name, field.alias):
                return list(_flat(field.annotation))
        return []
    origin, args = get_origin(kind), get_args(kind)
    if origin in (tuple, list, Sequence) and isinstance(part, int) and args:
        homogeneous = origin is not tuple or args[-1] is Ellipsis
        return list(_flat(args[0] if homogeneous else args[min(part, len(args) - 1)]))
    if isinstance(origin, type) and issubclass(origin, dict) and args and isinstance(part, str):
        return list(_flat(args[1]))
    return []


def _flat(annotation: Any) -> Iterator[Any]:
    """Yield the members of unions, without their annotations."""
    if get_origin(annotation) is Annotated:
        yield from _flat(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for member in get_args(annotation):
            yield from _flat(member)
    else:
        yield annotation


def _has_tag(kind: Any, tag: str) -> bool:
    if not _is_model(kind):
        return False
    literals = [
        get_args(field.annotation)
        for field in kind.model_fields.values()
        if get_origin(field.annotation) is Literal and field.is_required()
    ]
    return any(values == (tag,) for values in literals)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _written_name(name: str, field: FieldInfo) -> str:
    return field.alias or name
