"""The JSON Schema of a problem file, for editors that complete and check while one writes."""

from __future__ import annotations

import json
from typing import Any

from engine.spec.schema import ProblemSpec

__all__ = ["json_schema", "schema_text"]


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a problem file."""
    schema = ProblemSpec.model_json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Softmark problem",
        **{key: value for key, value in schema.items() if key != "title"},
    }


def schema_text() -> str:
    """Return the JSON Schema as it stands in ``problems/schema.json``."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
