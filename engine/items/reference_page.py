"""The page ``docs/problem-spec.md``, made from the schema and its descriptions.

``python -m engine.items.reference_page > docs/problem-spec.md`` writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.items.checks import CHECKS
from engine.items.functions import GROUPS, TEXT_FUNCTIONS, FunctionDescription
from engine.items.misconceptions import builtin_root
from engine.items.schema import json_schema

__all__ = [
    "COVERS",
    "EXPRESSIONS",
    "INTRODUCTION",
    "MISTAKES",
    "PICTURES",
    "POOLS",
    "PRINTED",
    "STEPS",
    "TEXTS",
    "YAML_RULES",
    "examples_folder",
    "reference_page",
    "type_in_words",
]


# ----------------------------------------------------------------------------------------------------
# The parts of ``docs/problem-spec.md`` that are written and not generated.

INTRODUCTION = """\
# Problem files

<!-- Generated from engine/items/ by `python -m engine.items.reference_page`; change the text there. -->

One file is one item: `softmax-weights.yaml` is the item `softmax-weights`. Put your own files into the
`problems` folder of your course; an item there takes the place of a built-in one with the same name. Then

    grade lint softmax-weights
    grade show softmax-weights --seed 1

check it by recomputation and show one of its variants. Whatever is wrong with a file is shown at once, each
fault with its line and column:

    softmax-weights.yaml:9:35: there is no function 'softmx'; did you mean 'softmax'?
        answer: {type: vector, key: softmx(e), decimals: 3}
                                    ^

An editor that knows JSON Schema completes and checks while you type, if the file begins with

    # yaml-language-server: $schema=schema.json

and the schema lies beside it (`grade schema > schema.json`).

Every key and every wrong option that can be computed is computed, from the numbers of the variant that a
student gets. You write the *expression*; nobody types a number that can be wrong.
"""

YAML_RULES = """\
## YAML as it is read here

Files are UTF-8 text of at most 1 MiB in YAML 1.2. That makes a difference to what older tools do:

- Only `true` and `false` are truth values; `yes`, `no`, `on` and `off` are words.
- `010` is ten. `1e-3` is a number. `12:30:45` and `2026-11-27` are words.
- `0.10` keeps its digits: a step of `0.1` is exactly one tenth.
- A key that stands twice is an error. Anchors (`&x`), aliases (`*x`), merge keys (`<<`) and tags (`!x`)
  aren't possible.
- Keys are words, whatever they look like; values are what they look like. A section `5.1` that is meant as
  a word stands in quotes: `section: "5.1"`.
- In double quotes a backslash means something: `"\\tanh"` would be a tab and `anh`. Write formulas in
  single quotes, or after `|` on lines of their own.
- In `{ … }` and `[ … ]` a text with a comma, a colon or brackets stands in quotes:
  `{key: "context(w, H)"}`.
"""

EXPRESSIONS = """\
## Expressions

Keys, derived values, constraints, invariants and misconceptions are expressions:

    context(softmax(e), H)
    2 ** e / sum(2 ** e)
    abs(sum(w) - 1) <= 0.01

They consist of names, numbers, words in quotes, lists, `+ - * / // % ** @`, comparisons, `and`, `or`,
`not`, `a if condition else b`, positions from 0 (`e[0]`, `H[-1]`) and calls of the functions below.
Arithmetic works entry by entry; the shapes must be equal, or one side a number. `@` is the matrix product.
All is computed in double precision.

An expression may use what stands above it: sizes the parameters before them, derived values the parameters
and the derived values before them, a step also the values of the steps before it, and the invariants and
misconceptions of a step that step's own value too.
"""

TEXTS = """\
## Texts

Stems, prompts, options, feedback, hints and solutions are Markdown with formulas between `$` and `$`, or
`$$` and `$$` on their own. A dollar sign is `\\$`. What stands in `{{ … }}` is filled in for each variant:
names of parameters and derived values, expressions, and the functions below; feedback and the solution may
also use the key: `{{ key }}`, or in an item with steps the steps' ids. `{% for row in H %} … {% endfor %}`
repeats, `{% if … %} … {% endif %}` chooses. Leave a blank between a brace of LaTeX and one of these:
`\\frac{ {{ a }} }{2}`.
"""

PICTURES = """\
### Pictures

`heatmap`, `alignment_grid` and `beam_tree` draw a picture of a variant's own numbers. It stands in a
paragraph of its own, in a stem, prompt, note, hint or solution; options, cards and feedback are one line and
can't hold one:

    {{ heatmap(softmax(E), "the cat sleeps", "the cat sleeps") }}

    {{ alignment_grid(A, "le chat dort", "the cat is sleeping") }}

    {{ beam_tree(T, 2, "A B C") }}

Words stand in one text with blanks between them; without words, rows and columns are numbered and the words
of a tree are A, B, C … A word has at most 20 characters, a matrix at most 12 rows and 12 columns, a tree at
most 64 hypotheses. Weights are shaded from 0 to 1, all other numbers from the smallest to the largest (0
included).

You write nothing for those who can't see it: the alternative text holds every number with its words, each
cell has a title, and nothing is told by colour. In the terminal a picture is drawn with characters, in LaTeX
as a `tabular`. LaTeX of ours needs the packages `fontenc` (T1), `amsmath` and `amssymb`, and no others.
"""

POOLS = """\
## Pools

Options of a choice, prompts of a matching and cards of an ordering can be a pool, of which each variant shows
some: `draw: [1, 3]` takes one right and three wrong options, `draw: 4` four prompts or cards. A pool of three
right and five wrong options with a sentence of `feedback` each gives a class enough different questions.

A multiple choice with `draw: 6` shows six options, of which one to four are right, as far as the pool has
them: another number in each variant, each equally likely, so that nobody knows how many to pick. With
[right, wrong] the numbers are always the same, and `grade lint --strict` warns.

An option, prompt, target or card with `when` belongs only to variants for which the expression is true. A
statement that holds for some drawn values and not for others stands there twice:

    - {text: The score is a vector, correct: true, when: m > 1}
    - {text: The score is a vector, when: m == 1, feedback: One row gives one number.}
"""

STEPS = """\
## Steps

An item has one `answer`, or several `steps`, each with its own answer field. Each step is marked as it
stands and, with `follow_through`, once more with the student's own earlier values; the better result
counts, if those values meet the `invariants`. The id of a step is the name of its value.
"""

MISTAKES = """\
## Known mistakes

A wrong answer is compared with what each known mistake would give. Ids and sentences stand in the registry,
`misconceptions.yaml`, a mapping from id to sentence:

    m-base2: This is what powers of 2 give. Softmax uses powers of e.

An item lists the ids that fit it, each with the expression of the mistake. A course's own registry adds to
the built-in one, or replaces sentences of it.
"""

COVERS = """\
## What an item covers

`syllabus.yaml` in the folder of the problems lists what a course is about: groups of entries, each with a
`title`, perhaps `where` the lecture has it, and `no_item` with the reason where no item is meant to cover it.
A course's own file adds to the built-in one. Items name the entries they cover in `covers`; a fault that
stands in `errata` counts by itself. `grade coverage` shows which items cover what, and what is left over.

## What an item needs

`terms.yaml` in the same folder lists what can be presupposed: terms such as `softmax` or `self-attention`,
and lecture documents whose notation an item may quote (`S0` to `S4`), each with a `title` and the `words` by
which texts show it. A course's own file adds to the built-in one. An item names in `needs` what its students
must have been taught; a blueprint with `needs: [seq2seq, recurrence]` draws only items that need nothing
else. An item without `needs` is drawn whatever a blueprint says. Of an item with `needs`, `grade lint
--strict` finds terms that its title, stem, prompts, options or hints use and `needs` doesn't name.
"""

PRINTED = """\
## Printed exercises and errata

An exercise of a lecture is kept as it is printed, beside the form that is scored. `grade lint` recomputes
it: if no printed option is right, the file must say so, with `status: erratum` and an erratum, or lint
fails. An item of your own may note a fault of its source in `errata` and keep the status `ok`. The built-in
`l16-ex3-softmax-weights` shows both keys at work.
"""


# ----------------------------------------------------------------------------------------------------
# Says in words what a part of the JSON Schema allows, for the reference page.

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
    "CheckSpec": "check",
    "MutantSpec": "mutant",
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
    yield from _model(models["ItemSource"])
    yield from _parameters(models)
    yield "## Constraints\n"
    yield from _model(models["DrawConstraint"])
    yield "## Claims\n"
    yield from _model(models["DeclaredClaim"])
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
    yield _table(models["ItemMisconception"])
    yield "## Effort\n"
    yield from _model(models["EffortLimit"])
    yield COVERS
    yield PRINTED
    yield "### `printed`\n"
    yield from _model(models["PrintedExercise"])
    yield "### `errata`\n"
    yield from _model(models["SourceErratum"])
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


def _functions(title: str, functions: Iterable[FunctionDescription]) -> Iterator[str]:
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
