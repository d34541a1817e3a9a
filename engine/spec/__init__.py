"""Problem files: YAML to :class:`~engine.spec.schema.ProblemSpec`, every fault with its place."""

from __future__ import annotations

from engine.spec.bank import Bank, builtin_bank, builtin_root
from engine.spec.json_schema import json_schema, schema_text
from engine.spec.loading import load_spec
from engine.spec.schema import ProblemSpec
from engine.spec.validation import validate
from engine.spec.version import item_version
from engine.spec.yaml_source import read_yaml

__all__ = [
    "Bank",
    "ProblemSpec",
    "builtin_bank",
    "builtin_root",
    "item_version",
    "json_schema",
    "load_spec",
    "read_yaml",
    "schema_text",
    "validate",
]
