"""The page ``docs/problem-spec.md``: its text, with tables made from the models of a problem file.

``python -m docs.generators.problem_spec > docs/problem-spec.md`` (``make docs``) writes it. The text stands
in ``problem-spec.in.md`` beside this file; a line ``@table StepSpec`` there becomes the table of a model, and
:data:`_PARTS_OF_THE_PAGE` lists the other such lines. What keys, types and functions mean comes from the
descriptions and docstrings in the engine, so the page can't fall behind them.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

from engine.expressions.functions import FUNCTIONS, LanguageFunction, arguments_of
from engine.items import load_spec
from engine.items.answer_specs import AnyAnswer
from engine.items.checks import CHECKS
from engine.items.problem_spec import json_schema
from engine.prose.stems import TEXT_FUNCTIONS

__all__ = ["EXAMPLES", "function_rows", "reference_page", "type_in_words"]

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "problem-examples"

_MODELS = {
    "ItemSource": "source",
    "DeclaredClaim": "claim",
    "DrawConstraint": "constraint",
    "ItemMisconception": "known mistake",
    "StepSpec": "step",
    "SourceErratum": "erratum",
    "PrintedExercise": "printed exercise",
    "OptionSpec": "option",
    "CardSpec": "card",
    "MatchPrompt": "prompt",
    "CriterionSpec": "criterion",
    "LevelSpec": "level",
    "CheckSpec": "check",
    "MutantSpec": "mutant",
    "EquivalentSpec": "equivalent change",
    "EffortLimit": "effort",
    "LimitsSpec": "limits",
}
_PATTERNS = {
    r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$": "id",
    r"^[a-z][a-z0-9]*(-[A-Za-z0-9]+)*$": "id of a mistake",
    r"^[A-Za-z][A-Za-z0-9_]*$": "name",
    r"^[FD]-[0-9]{1,2}$": "F- or D- and a number",
    r"^[A-Za-z0-9]{1,4}$": "letter",
}
_PLURALS = {"erratum": "errata", "criterion": "criteria", "id of a mistake": "ids of mistakes"}


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
    words = [type_in_words(schema) for schema in schemas if schema.get("type") != "null"]
    return " or ".join(dict.fromkeys(words))


def _list(schema: Mapping[str, Any]) -> str:
    if "prefixItems" in schema:
        return "[" + ", ".join(type_in_words(entry) for entry in schema["prefixItems"]) + "]"
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


def reference_page() -> str:
    """Return the whole page."""
    lines = (HERE / "problem-spec.in.md").read_text(encoding="utf-8").splitlines()
    models: Mapping[str, Any] = {"ProblemSpec": json_schema(), **json_schema()["$defs"]}
    page = "\n".join(_filled(line, models) if line.startswith("@") else line for line in lines)
    return page.rstrip() + "\n"


def _filled(line: str, models: Mapping[str, Any]) -> str:
    kind, _, argument = line.removeprefix("@").partition(" ")
    return "\n".join(_PARTS_OF_THE_PAGE[kind](models, argument)).rstrip("\n")


def _parameters(models: Mapping[str, Any], _: str) -> Iterator[str]:
    for name, model in models.items():
        if name.endswith("Parameter"):
            yield f"### `kind: {model['properties']['kind']['const']}`\n"
            yield from _model(model)


def _answers(models: Mapping[str, Any], _: str) -> Iterator[str]:
    shown: set[str] = set()
    for answer in get_args(AnyAnswer):
        model = models[answer.__name__]
        kind = model["properties"]["type"]["const"]
        yield f"### `type: {kind}`\n"
        yield from _model(model)
        # what several types share, such as options, stands where it comes up first
        parts = _parts_of(model["properties"])
        parts += [name for part in parts for name in _parts_of(models[part]["properties"])]
        for part in (name for name in dict.fromkeys(parts) if name not in shown):
            shown.add(part)
            yield f"`{part.removesuffix('Spec')}`: {_prose(models[part]['description'])}\n"
            yield _table(models[part])
        for path in sorted(EXAMPLES.rglob("*.yaml")):
            if load_spec(path).kind == kind:
                yield _example(path.relative_to(EXAMPLES).with_suffix("").as_posix())


def _parts_of(schema: Any) -> list[str]:
    """Return the names of the models that a schema refers to, in order."""
    if isinstance(schema, list):
        return [name for entry in schema for name in _parts_of(entry)]
    if not isinstance(schema, dict):
        return []
    own = [str(schema["$ref"]).rsplit("/", 1)[-1]] if "$ref" in schema else []
    return list(dict.fromkeys([*own, *_parts_of(list(schema.values()))]))


def _checks(models: Mapping[str, Any], _: str) -> Iterator[str]:
    for module in dict.fromkeys(sys.modules[check.__module__] for check in CHECKS):
        purpose = (module.__doc__ or "").partition("\n\n")[0]
        yield f"- {' '.join(purpose.split())}"


def _model(model: Mapping[str, Any]) -> Iterator[str]:
    yield _prose(model["description"]) + "\n"
    yield _table(model)


def _table(model: Mapping[str, Any]) -> str:
    required = set(model.get("required", ()))
    lines = ["| key | value | if left out | |", "|---|---|---|---|"]
    for key, field in model["properties"].items():
        if "const" in field:
            continue
        default = "**needed**" if key in required else _default(field)
        lines.append(
            f"| `{key}` | {type_in_words(field)} | {default} | {_cell(field.get('description', ''))} |"
        )
    return "\n".join(lines) + "\n"


def _default(field: Mapping[str, Any]) -> str:
    default = field.get("default")
    if default is None or default == [] or isinstance(default, dict):
        return ""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{default:g}`" if isinstance(default, int | float) else f"`{default}`"


def _expression_functions(models: Mapping[str, Any], _: str) -> Iterator[str]:
    for title, group in groupby(sorted(FUNCTIONS.values(), key=_group), key=lambda function: function.group):
        yield f"### {title}\n"
        yield _function_table({function.name: function.call for function in group})


def _group(function: LanguageFunction) -> int:
    """Return the place of a function's group: basic ones first, known mistakes last."""
    return _GROUPS.index(function.group)


def _function_table(functions: Mapping[str, Callable[..., Any]]) -> str:
    rows = (f"| `{call}` | {_cell(meaning)} |" for call, meaning in function_rows(functions))
    return "\n".join(("| function | gives |", "|---|---|", *rows)) + "\n"


def function_rows(functions: Mapping[str, Callable[..., Any]]) -> Iterator[tuple[str, str]]:
    """Yield how each function is called, and what its docstring says before the first section."""
    for name, call in functions.items():
        paragraphs = inspect.cleandoc(call.__doc__ or "").split("\n\n")
        text = " ".join(" ".join(p for p in paragraphs if "\n---" not in p).split())
        text = text.removeprefix("Return ")
        first = text.split(" ", 1)[0]
        # "q^T W k" and "n zeros" begin with a symbol, whose case means something
        is_word = first.replace("-", "").isalpha() and (len(first) > 1 or first == "a")
        yield f"{name}({arguments_of(call)})", text[0].upper() + text[1:] if is_word else text


def _example(name: str) -> str:
    path = EXAMPLES / f"{name}.yaml"
    lines = path.read_text(encoding="utf-8").splitlines()
    item = [line for line in lines if not line.startswith("# yaml-language-server")]
    return f"`{path.name}`\n\n```yaml\n" + "\n".join(item) + "\n```\n"


def _prose(docstring: str) -> str:
    """Return a docstring as Markdown: its double backticks single, its lines joined."""
    paragraphs = docstring.replace("``", "`").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("``", "`")


_GROUPS = (
    "Arithmetic",
    "Scores, weights, attention",
    "Networks",
    "Decoding",
    "Counting",
    "Taking apart and putting together",
    "Tests for constraints and invariants",
    "What known mistakes give",
)
_PARTS_OF_THE_PAGE: Mapping[str, Callable[[Mapping[str, Any], str], Iterable[str]]] = {
    "table": lambda models, name: [_table(models[name])],
    "model": lambda models, name: _model(models[name]),
    "example": lambda models, name: [_example(name)],
    "parameters": _parameters,
    "answers": _answers,
    "functions": _expression_functions,
    "text-functions": lambda models, _: [_function_table(TEXT_FUNCTIONS)],
    "checks": _checks,
}

if __name__ == "__main__":
    sys.stdout.write(reference_page())
