"""The reference page is fresh, and every worked example on it is a real item."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.generators.problem_spec import EXAMPLES as EXAMPLES_FOLDER
from docs.generators.problem_spec import reference_page
from engine.authoring.lint import FindingSeverity, lint_item
from engine.expressions.functions import FUNCTIONS, arguments_of
from engine.items import ProblemSpec, builtin_bank, builtin_root, item_version, json_schema, load_spec
from engine.items.bank_files import builtin_registry
from engine.items.checks import CHECKS
from engine.prose.stems import TEXT_FUNCTIONS
from engine.variants import draw_seeded

PAGE = builtin_root().parent / "docs" / "problem-spec.md"
EXAMPLES = sorted(EXAMPLES_FOLDER.rglob("*.yaml"))
SEEDS = 25


def test_the_committed_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference_page(), (
        "run: python -m docs.generators.problem_spec > docs/problem-spec.md"
    )


def test_the_page_names_every_key_kind_type_function_and_rule() -> None:
    page = reference_page()
    schema = json_schema()
    for body in (schema, *schema["$defs"].values()):
        for key, field in body["properties"].items():
            wanted = f"`{key}: {field['const']}`" if "const" in field else f"| `{key}` |"
            assert wanted in page, wanted
    calls = {name: function.call for name, function in FUNCTIONS.items()} | TEXT_FUNCTIONS
    for name, call in calls.items():
        assert f"`{name}({arguments_of(call)})`" in page
    for check in CHECKS:
        assert check.__doc__


def test_no_table_is_broken_by_a_bar() -> None:
    columns = 0
    for line in reference_page().splitlines():
        if not line.startswith("|"):
            columns = 0
            continue
        bars = line.replace("\\|", "").count("|")
        columns = columns or bars
        assert bars == columns, line


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_loads_and_can_be_drawn(path: Path) -> None:
    spec = load_spec(path)
    version = item_version(spec, path)
    assert path.read_text(encoding="utf-8").split("\n", 1)[1] in reference_page()
    if spec.answer is not None and spec.answer.type == "code":
        return
    drawn = [
        draw_seeded(spec, version=version, registry=builtin_registry(), seed=seed) for seed in range(SEEDS)
    ]
    assert all(variant.points == spec.points for variant in drawn)
    if not spec.parameters:
        return
    assert len({variant.id for variant in drawn}) > SEEDS // 2


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_proves_itself(path: Path) -> None:
    report = lint_item(load_spec(path), path, builtin_bank(), seeds=SEEDS)
    assert [finding for finding in report.findings if finding.severity is FindingSeverity.ERROR] == []


def kind(spec: ProblemSpec) -> set[str]:
    if spec.answer is None:
        return {"steps", *(step.answer.type for step in spec.steps)}
    return {spec.answer.type}


def test_every_answer_type_has_an_example() -> None:
    shown = set().union(*(kind(load_spec(path)) for path in EXAMPLES))
    models = json_schema()["$defs"].values()
    types = {
        body["properties"]["type"]["const"]
        for body in models
        if "const" in body["properties"].get("type", {})
    }
    assert shown == types | {"steps"}


def test_the_schema_named_in_an_example_is_there() -> None:
    for path in EXAMPLES:
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert (path.parent / first.split("$schema=")[1]).resolve() == builtin_root() / "schema.json"
