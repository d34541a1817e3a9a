"""Says in words what a part of the JSON Schema allows, for the reference page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["type_in_words"]

_MODELS = {
    "Source": "source",
    "Claim": "claim",
    "Constraint": "constraint",
    "Misconception": "known mistake",
    "StepSpec": "step",
    "Erratum": "erratum",
    "PrintedExercise": "printed exercise",
    "OptionSpec": "option",
    "CardSpec": "card",
    "MatchPrompt": "prompt",
    "CheckSpec": "check",
    "MutantSpec": "mutant",
    "Effort": "effort",
    "LimitsSpec": "limits",
}
_PATTERNS = {
    r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$": "id",
    r"^[a-z][a-z0-9]*(-[A-Za-z0-9]+)*$": "id of a mistake",
    r"^[A-Za-z][A-Za-z0-9_]*$": "name",
    r"^[FD]-[0-9]{1,2}$": "F- or D- and a number",
    r"^[A-Za-z0-9]{1,4}$": "letter",
}
_PLURALS = {"erratum": "errata", "id of a mistake": "ids of mistakes"}


def type_in_words(schema: Mapping[str, Any]) -> str:
    """Return what a value may be, such as ``whole number (1 to 5)`` or ``list of texts``."""
    if "$ref" in schema:
        return _MODELS[str(schema["$ref"]).rsplit("/", 1)[-1]]
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if "oneOf" in schema and "discriminator" in schema:
        return "answer" if schema["discriminator"]["propertyName"] == "type" else "parameter"
    if "anyOf" in schema:
        return _alternatives(schema["anyOf"])
    kind = schema.get("type")
    if kind == "array":
        return _list(schema)
    if kind == "object":
        return _mapping(schema)
    if isinstance(kind, list):
        return "expression"
    return _single(str(kind), schema)


def _alternatives(schemas: list[Mapping[str, Any]]) -> str:
    words = [type_in_words(one) for one in schemas if one.get("type") != "null"]
    return " or ".join(dict.fromkeys(words))


def _list(schema: Mapping[str, Any]) -> str:
    if "prefixItems" in schema:
        return "[" + ", ".join(type_in_words(one) for one in schema["prefixItems"]) + "]"
    inner = type_in_words(schema["items"])
    return "list of " + " or ".join(_plural(word) for word in inner.split(" or "))


def _plural(words: str) -> str:
    kind, bracket, bounds = words.partition(" (")
    return _PLURALS.get(kind, kind + "s") + bracket + bounds


def _mapping(schema: Mapping[str, Any]) -> str:
    inner = next(iter(schema.get("patternProperties", {}).values()), None)
    return f"mapping: name to {type_in_words(inner)}" if isinstance(inner, dict) else "mapping"


def _single(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "string":
        form = _PATTERNS.get(schema.get("pattern", ""))
        return form or ("text" if schema.get("maxLength", 0) >= 300 else "short text")
    if kind == "boolean":
        return "`true`, `false`"
    if kind in ("integer", "number"):
        return ("whole number" if kind == "integer" else "number") + _bounds(schema)
    return "number or list of numbers" if kind == "None" else kind


def _bounds(schema: Mapping[str, Any]) -> str:
    low, high, above = (schema.get(key) for key in ("minimum", "maximum", "exclusiveMinimum"))
    if above is not None:
        return f" (above {above:g}, up to {high:g})" if high is not None else f" (above {above:g})"
    if low is not None and high is not None:
        return f" ({low:g} to {high:g})"
    return f" (from {low:g})" if low is not None else ""
