"""The page ``docs/problem-spec.md``, made from the schema and its descriptions.

``python -m engine.spec.reference_page > docs/problem-spec.md`` writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.spec.checks import CHECKS
from engine.spec.functions import GROUPS, TEXT_FUNCTIONS, Described
from engine.spec.json_schema import json_schema
from engine.spec.reference_text import (
    COVERS,
    EXPRESSIONS,
    INTRODUCTION,
    MISTAKES,
    PICTURES,
    POOLS,
    PRINTED,
    STEPS,
    TEXTS,
    YAML_RULES,
)
from engine.spec.registry import builtin_root
from engine.spec.schema_words import type_in_words

__all__ = ["examples_folder", "reference_page"]

_ANSWERS = {
    "SingleChoiceAnswer": ("weights-sum", "softmax-of-three"),
    "MultipleChoiceAnswer": ("what-attention-changes",),
    "NumberAnswer": ("ratio-of-weights",),
    "VectorAnswer": ("mixture-of-states",),
    "MatrixAnswer": ("causal-pattern",),
    "OrderingAnswer": ("one-step",),
    "MatchingAnswer": ("symbol-roles",),
    "TokenAnswer": ("first-two-words",),
    "CodeAnswer": ("softmax/softmax",),
}
_PARTS = {
    "SingleChoiceAnswer": ("OptionSpec",),
    "OrderingAnswer": ("CardSpec",),
    "MatchingAnswer": ("MatchPrompt",),
    "CodeAnswer": ("CheckSpec", "MutantSpec", "LimitsSpec"),
}


def examples_folder() -> Path:
    """Return the folder of the worked examples; it is part of the repository, not of an installation."""
    return builtin_root().parent / "docs" / "problem-examples"


def reference_page() -> str:
    """Return the whole page."""
    schema = json_schema()
    return "\n".join(_page(schema, schema["$defs"])).rstrip() + "\n"


def _page(schema: Mapping[str, Any], models: Mapping[str, Any]) -> Iterator[str]:
    yield INTRODUCTION
    yield "## An item\n"
    yield _table(schema)
    yield "A randomized item, complete:\n"
    yield _example("mixture-of-states")
    yield YAML_RULES
    yield "## Source\n"
    yield from _model(models["Source"])
    yield from _parameters(models)
    yield "## Constraints\n"
    yield from _model(models["Constraint"])
    yield "## Claims\n"
    yield from _model(models["Claim"])
    yield EXPRESSIONS
    for title, group in GROUPS.items():
        yield from _functions(f"### {title}", group)
    yield TEXTS
    yield from _functions("", TEXT_FUNCTIONS)
    yield PICTURES
    yield from _answers(models)
    yield POOLS
    yield STEPS
    yield _table(models["StepSpec"])
    yield _example("weights-then-context")
    yield MISTAKES
    yield _table(models["Misconception"])
    yield "## Effort\n"
    yield from _model(models["Effort"])
    yield COVERS
    yield PRINTED
    yield "### `printed`\n"
    yield from _model(models["PrintedExercise"])
    yield "### `errata`\n"
    yield from _model(models["Erratum"])
    yield from _rules()


def _parameters(models: Mapping[str, Any]) -> Iterator[str]:
    yield "## Parameters\n"
    yield "`parameters` maps a name to what is drawn for it. `kind` says which:\n"
    for name, model in models.items():
        if name.endswith("Parameter"):
            yield f"### `kind: {model['properties']['kind']['const']}`\n"
            yield from _model(model)


def _answers(models: Mapping[str, Any]) -> Iterator[str]:
    yield "## Answers\n"
    yield "`answer` asks for one thing; `type` says what.\n"
    for name, examples in _ANSWERS.items():
        model = models[name]
        yield f"### `type: {model['properties']['type']['const']}`\n"
        yield from _model(model)
        for part in _PARTS.get(name, ()):
            yield f"`{part.removesuffix('Spec')}`: {_prose(models[part]['description'])}\n"
            yield _table(models[part])
        for example in examples:
            yield _example(example)


def _rules() -> Iterator[str]:
    yield "## What is checked when a file is read\n"
    for module in dict.fromkeys(sys.modules[check.__module__] for check in CHECKS):
        yield f"- {(module.__doc__ or '').splitlines()[0]}"
    yield ""


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


def _functions(title: str, functions: Iterable[Described]) -> Iterator[str]:
    if title:
        yield title + "\n"
    lines = ["| function | gives |", "|---|---|"]
    lines += [f"| `{one.name}({one.arguments})` | {_cell(one.gives)} |" for one in functions]
    yield "\n".join(lines) + "\n"


def _example(name: str) -> str:
    path = examples_folder() / f"{name}.yaml"
    lines = path.read_text(encoding="utf-8").splitlines()
    shown = [line for line in lines if not line.startswith("# yaml-language-server")]
    return f"`{path.name}`\n\n```yaml\n" + "\n".join(shown) + "\n```\n"


def _prose(docstring: str) -> str:
    """Return a docstring as Markdown: its double backticks single, its lines joined."""
    paragraphs = docstring.replace("``", "`").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("``", "`")


if __name__ == "__main__":
    sys.stdout.write(reference_page())
