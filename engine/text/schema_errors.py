"""Say in plain words what pydantic finds wrong with the values of a YAML file, and where they are.

Each error becomes a sentence with what was expected and what is there, and a misspelt key or choice gets
a suggestion: ``unknown key 'topcs'; did you mean 'topics'?``
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo

from engine.errors import Diagnostic
from engine.text.words import did_you_mean, join_words, near_words, one_line
from engine.text.yaml_errors import Loc, YamlDocument

# Finds what a pydantic model allows at a path, to say what was expected and to suggest near names.


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


def _types_at(model: type[BaseModel], loc: Loc) -> list[Any]:
    current: list[Any] = [model]
    for part in loc:
        inner = [member for kind in current for member in _step(kind, part)]
        if inner:
            current = inner
        elif isinstance(part, str):
            current = [kind for kind in current if _has_tag(kind, part)] or current
    return current


def _step(kind: Any, part: int | str) -> list[Any]:
    """Return the types one key or position further in, none if ``kind`` has no such place."""
    if _is_model(kind) and issubclass(kind, RootModel):
        return [
            member for inner in _flat(kind.model_fields["root"].annotation) for member in _step(inner, part)
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


# Says in plain words what pydantic found wrong, with what was expected and what is there.

Fault = Mapping[str, Any]
"""One entry of ``pydantic.ValidationError.errors()``."""

_PATTERNS = {
    r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$": "small letters, digits and single hyphens, such as softmax-weights",
    r"^[a-z][a-z0-9]*(-[A-Za-z0-9]+)*$": "letters, digits and single hyphens, such as m-base2",
    r"^[A-Za-z][A-Za-z0-9_]*$": "a letter, then letters, digits or underscores, such as W_1",
    r"^[FD]-[0-9]{1,2}$": "F- or D- and a number, such as F-02",
    r"^[A-Za-z0-9]{1,4}$": "a letter or number, such as a",
}


def describe(value: Any) -> str:
    """Return what a value of a YAML file is, in words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text '{one_line(value, 40)}'" if value else "an empty text"
    if isinstance(value, int | float):
        return f"the number {one_line(str(value), 40)}"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    return "a mapping (key: value)" if isinstance(value, Mapping) else "something else"


def explain(fault: Fault, keys: Iterable[str] = ()) -> str:
    """Return one sentence for one of pydantic's errors.

    Parameters
    ----------
    fault : mapping
        With ``type``, ``loc``, ``input``, ``ctx`` and ``msg``.
    keys : iterable of str
        The keys that are allowed where an unknown key is.
    """
    kind, last = str(fault["type"]), fault["loc"][-1] if fault["loc"] else ""
    if kind == "extra_forbidden":
        allowed = list(keys)
        if not re.fullmatch(r"[\w-]+", str(last)):
            return (
                f"'{one_line(str(last))}' isn't a key; inside {{ }} a text with commas or colons needs quotes"
            )
        return f"unknown key '{one_line(str(last))}'" + did_you_mean(
            str(last),
            allowed,
            f"; the keys here are {join_words(sorted(allowed), 'or', 20)}" if allowed else "",
        )
    if kind == "missing":
        return (
            f"the key '{last}' is missing here" if isinstance(last, str) else "this list has too few entries"
        )
    sentence = _SENTENCES.get(kind)
    return sentence(fault) if sentence else f"this value isn't allowed: {one_line(str(fault['msg']), 200)}"


def _expected(kind: str) -> Callable[[Fault], str]:
    def sentence(fault: Fault) -> str:
        return f"{kind} was expected, not {describe(fault['input'])}{_quotes_hint(kind, fault['input'])}"

    return sentence


def _quotes_hint(kind: str, value: Any) -> str:
    if kind == "text" and isinstance(value, int | float):
        return "; put it in quotes"
    if isinstance(value, str) and kind == "true or false":
        word = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
        word_meant = word.get(value.lower(), value.lower() if value.lower() in ("true", "false") else "")
        return f"; write {word_meant}" if word_meant else ""
    if isinstance(value, str) and kind in ("a number", "a whole number") and _is_number(value):
        return "; leave out the quotes"
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _bound(words: str, key: str) -> Callable[[Fault], str]:
    def sentence(fault: Fault) -> str:
        bound = fault["ctx"][key]
        bound = int(bound) if isinstance(bound, float) and bound == int(bound) else bound
        return f"the number must be {words} {bound}, not {one_line(str(fault['input']), 40)}"

    return sentence


def _length(fault: Fault) -> str:
    context = fault["ctx"]
    count = len(fault["input"]) if isinstance(fault["input"], list | str | Mapping) else "?"
    text = fault["type"].startswith("string")
    if "min_length" in context:
        least = context["min_length"]
        if least == 1:
            return "this text is empty" if text else "at least one entry is needed"
        return f"at least {least} {'characters' if text else 'entries'} are needed, not {count}"
    most = context["max_length"]
    return f"at most {most} {'characters' if text else 'entries'} are possible, not {count}"


def _pattern(fault: Fault) -> str:
    form = _PATTERNS.get(fault["ctx"]["pattern"], f"the pattern {fault['ctx']['pattern']}")
    return f"'{one_line(str(fault['input']), 40)}' has the wrong form; expected: {form}"


def _choice(fault: Fault) -> str:
    words = [word.strip("'") for word in fault["ctx"]["expected"].replace(" or ", ", ").split(", ")]
    return _not_one_of(fault["input"], words)


def _tag(fault: Fault) -> str:
    words = [word.strip("'") for word in fault["ctx"]["expected_tags"].split(", ")]
    name = fault["ctx"]["discriminator"].strip("'")
    return f"{name}: " + _not_one_of(fault["ctx"]["tag"], words)


def _not_one_of(value: Any, words: list[str]) -> str:
    got = f"'{one_line(value, 40)}'" if isinstance(value, str) else describe(value)
    return f"{got} isn't one of {join_words(words, 'or', 20)}" + did_you_mean(str(value), words)


def _tag_missing(fault: Fault) -> str:
    name = fault["ctx"]["discriminator"].strip("'")
    return f"the key '{name}' is missing here; it says which kind this is"


def _plain_fault(fault: Fault) -> str:
    return str(fault.get("ctx", {}).get("text") or fault["msg"])


_SENTENCES: dict[str, Callable[[Fault], str]] = {
    "string_type": _expected("text"),
    "int_type": _expected("a whole number"),
    "int_from_float": _expected("a whole number"),
    "int_parsing": _expected("a whole number"),
    "float_type": _expected("a number"),
    "float_parsing": _expected("a number"),
    "finite_number": _expected("a finite number"),
    "number": _expected("a number"),
    "numbers": _expected("a number or a list of numbers"),
    "bool_type": _expected("true or false"),
    "bool_parsing": _expected("true or false"),
    "tuple_type": _expected("a list"),
    "list_type": _expected("a list"),
    "dict_type": _expected("a mapping (key: value)"),
    "model_type": _expected("a mapping (key: value)"),
    "model_attributes_type": _expected("a mapping (key: value)"),
    "mapping_type": _expected("a mapping (key: value)"),
    "decimal_type": _expected("a number"),
    "decimal_parsing": _expected("a number"),
    "greater_than": _bound("greater than", "gt"),
    "greater_than_equal": _bound("at least", "ge"),
    "less_than": _bound("less than", "lt"),
    "less_than_equal": _bound("at most", "le"),
    "string_too_short": _length,
    "string_too_long": _length,
    "too_short": _length,
    "too_long": _length,
    "string_pattern_mismatch": _pattern,
    "literal_error": _choice,
    "enum": _choice,
    "union_tag_invalid": _tag,
    "union_tag_not_found": _tag_missing,
    "store_address": _plain_fault,
    "rule": _plain_fault,
    "ragged": _plain_fault,
    "rule_here": _plain_fault,
    "number_range": _plain_fault,
    "number_digits": _plain_fault,
    "too_many_numbers": _plain_fault,
    "value_error": lambda fault: str(fault["msg"]).removeprefix("Value error, "),
}


def schema_faults(document: YamlDocument, model: type[BaseModel], errors: Sequence[Any]) -> list[Diagnostic]:
    """Return a sentence with its place for each of pydantic's errors that doesn't follow from another one."""
    return [_fault(document, model, entry) for entry in _without_echoes(model, errors)]


def _without_echoes(model: type[BaseModel], errors: Sequence[Any]) -> list[Any]:
    """Leave out faults that only follow from others.

    A list is too short because its entries are wrong; a key is missing because it is misspelt.
    """
    misspelt = {
        (*entry["loc"][:-1], near[0])
        for entry in errors
        if entry["type"] == "extra_forbidden"
        and (near := near_words(str(entry["loc"][-1]), keys_at(model, entry["loc"][:-1])))
    }
    return [
        entry
        for entry in errors
        if not (entry["type"] == "missing" and tuple(entry["loc"]) in misspelt)
        and not (entry["type"] == "too_short" and any(_inside(other, entry) for other in errors))
    ]


def _retired(model: type[BaseModel]) -> Mapping[str, Callable[[object], str]]:
    """Return the keys of earlier versions that a model names, each with what to write instead."""
    return getattr(model, "retired_keys", {})


def _inside(entry: Any, outer: Any) -> bool:
    return len(entry["loc"]) > len(outer["loc"]) and entry["loc"][: len(outer["loc"])] == outer["loc"]


def _fault(document: YamlDocument, model: type[BaseModel], entry: Any) -> Diagnostic:
    loc, kind = tuple(entry["loc"]), entry["type"]
    if loc[-1:] == ("[key]",):
        return document.diagnostic(loc[:-1], "the name " + explain(entry), key=True)
    if kind == "extra_forbidden":
        retired = {name: say for at in models_at(model, loc[:-1]) for name, say in _retired(at).items()}
        if loc[-1] in retired:
            return document.diagnostic(loc, retired[str(loc[-1])](entry["input"]), key=True)
        return document.diagnostic(loc, explain(entry, keys_at(model, loc[:-1])), key=True)
    context = entry.get("ctx", {})
    if kind == "rule":
        field = context["field"]
        loc = (*loc, *(field if isinstance(field, tuple) else (field,)))
    elif kind == "union_tag_invalid":
        loc = (*loc, context["discriminator"].strip("'"))
    return document.diagnostic(loc, explain(entry))
