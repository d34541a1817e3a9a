"""The JSON Schema of a problem file, for editors that complete and check while one writes."""

from __future__ import annotations

import json
from typing import Any

from engine.spec.schema import ProblemSpec

__all__ = ["json_schema", "schema_text"]


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a problem file."""
    schema = _tidy(ProblemSpec.model_json_schema(by_alias=True))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Softmark problem",
        **{key: value for key, value in schema.items() if key != "title"},
    }


def _tidy(schema: Any) -> Any:
    """Return a schema without pydantic's invented titles, decimals as numbers, unions that may overlap."""
    if isinstance(schema, list):
        return [_tidy(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    tidy = {
        key: _tidy(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))
    }
    if tidy.get("type") == "number" and isinstance(tidy.get("default"), str):
        tidy["default"] = float(tidy["default"])
    if "oneOf" in tidy and "discriminator" not in tidy:  # 3 is a number and also an expression
        tidy["anyOf"] = tidy.pop("oneOf")
    return tidy


def schema_text() -> str:
    """Return the JSON Schema as it stands in ``problems/schema.json``."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
