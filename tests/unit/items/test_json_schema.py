"""The published JSON Schema is fresh, complete, and knows every key with a description."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from engine.items import builtin_root, json_schema, schema_text


def test_the_committed_schema_is_fresh() -> None:
    committed = (builtin_root() / "schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(), "run: grade schema > problems/schema.json"


def test_it_is_json_and_forbids_unknown_keys() -> None:
    schema = json.loads(schema_text())
    assert schema == json_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["additionalProperties"] is False
    assert {"id", "title", "source", "difficulty", "bloom", "topics", "stem"} == set(schema["required"])


def objects(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "ProblemSpec", schema
    yield from schema["$defs"].items()


def test_every_key_has_a_description() -> None:
    missing = [
        f"{name}.{key}"
        for name, body in objects(json_schema())
        for key, field in body.get("properties", {}).items()
        if key not in ("type", "kind") and not field.get("description")
    ]
    assert missing == []


def test_references_resolve_and_numbers_are_numbers() -> None:
    schema = json_schema()
    text = schema_text()
    for name, body in objects(schema):
        assert body.get("description"), name
    references = {part.split('"')[0] for part in text.split('"$ref": "#/$defs/')[1:]}
    assert references <= set(schema["$defs"])
    step = schema["$defs"]["DecimalParameter"]["properties"]["step"]
    assert step["type"] == "number"
    assert step["exclusiveMinimum"] == 0
