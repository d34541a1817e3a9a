"""Says in plain words what pydantic found wrong, with what was expected and what stands there."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from engine.spec.text_file import shown

__all__ = ["describe", "did_you_mean", "explain", "listed", "near_words"]

Fault = Mapping[str, Any]
"""One entry of ``pydantic.ValidationError.errors()``."""

_PATTERNS = {
    r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$": "small letters, digits and single hyphens, such as softmax-weights",
    r"^[a-z][a-z0-9]*(-[A-Za-z0-9]+)*$": "letters, digits and single hyphens, such as m-base2",
    r"^[A-Za-z][A-Za-z0-9_]*$": "a letter, then letters, digits or underscores, such as W_1",
    r"^[FD]-[0-9]{1,2}$": "F- or D- and a number, such as F-02",
    r"^[A-Za-z0-9]{1,4}$": "a letter or number, such as a",
}


def near_words(word: str, known: Iterable[str], count: int = 1) -> list[str]:
    """Return the known words most like a word that isn't known, the nearest first."""
    words, word = list(known), word[:100]
    same = [candidate for candidate in words if candidate.lower() == word.lower()]
    near = same + difflib.get_close_matches(word, words, n=count, cutoff=0.65)
    return list(dict.fromkeys(near))[:count]


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known word, else ``otherwise``."""
    near = near_words(word, known)
    return f"; did you mean '{near[0]}'?" if near else otherwise


def listed(words: Iterable[str], limit: int = 12) -> str:
    """Return words as ``a, b or c``, cut after ``limit``."""
    some = list(words)
    if len(some) > limit:
        return ", ".join(some[:limit]) + " …"
    return " or ".join(part for part in (", ".join(some[:-1]), *some[-1:]) if part)


def describe(value: Any) -> str:
    """Return what a value of a YAML file is, in words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text '{shown(value, 40)}'" if value else "an empty text"
    if isinstance(value, int | float):
        return f"the number {shown(str(value), 40)}"
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
        The keys that are allowed where an unknown key stands.
    """
    kind, last = str(fault["type"]), fault["loc"][-1] if fault["loc"] else ""
    if kind == "extra_forbidden":
        allowed = list(keys)
        if not re.fullmatch(r"[\w-]+", str(last)):
            return f"'{shown(str(last))}' is no key; inside {{ }} a text with commas or colons needs quotes"
        return f"unknown key '{shown(str(last))}'" + did_you_mean(
            str(last), allowed, f"; the keys here are {listed(sorted(allowed), 20)}" if allowed else ""
        )
    if kind == "missing":
        return (
            f"the key '{last}' is missing here" if isinstance(last, str) else "this list has too few entries"
        )
    sentence = _SENTENCES.get(kind)
    return sentence(fault) if sentence else f"this value isn't allowed: {shown(str(fault['msg']), 200)}"


def _expected(what: str) -> Callable[[Fault], str]:
    def sentence(fault: Fault) -> str:
        return f"{what} was expected, not {describe(fault['input'])}{_quotes_hint(what, fault['input'])}"

    return sentence


def _quotes_hint(what: str, value: Any) -> str:
    """Say how to write what was probably meant."""
    if what == "text" and isinstance(value, int | float):
        return "; put it in quotes"
    if isinstance(value, str) and what == "true or false":
        word = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
        meant = word.get(value.lower(), value.lower() if value.lower() in ("true", "false") else "")
        return f"; write {meant}" if meant else ""
    if isinstance(value, str) and what in ("a number", "a whole number") and _is_number(value):
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
        return f"the number must be {words} {bound}, not {shown(str(fault['input']), 40)}"

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
    return f"'{shown(str(fault['input']), 40)}' has the wrong form; expected: {form}"


def _choice(fault: Fault) -> str:
    words = [word.strip("'") for word in fault["ctx"]["expected"].replace(" or ", ", ").split(", ")]
    return _not_one_of(fault["input"], words)


def _tag(fault: Fault) -> str:
    words = [word.strip("'") for word in fault["ctx"]["expected_tags"].split(", ")]
    name = fault["ctx"]["discriminator"].strip("'")
    return f"{name}: " + _not_one_of(fault["ctx"]["tag"], words)


def _not_one_of(value: Any, words: list[str]) -> str:
    got = f"'{shown(value, 40)}'" if isinstance(value, str) else describe(value)
    return f"{got} isn't one of {listed(words, 20)}" + did_you_mean(str(value), words)


def _tag_missing(fault: Fault) -> str:
    name = fault["ctx"]["discriminator"].strip("'")
    return f"the key '{name}' is missing here; it says which kind this is"


def _own(fault: Fault) -> str:
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
    "store_address": _own,
    "rule": _own,
    "ragged": _own,
    "rule_here": _own,
    "number_range": _own,
    "number_digits": _own,
    "too_many_numbers": _own,
    "value_error": lambda fault: str(fault["msg"]).removeprefix("Value error, "),
}
