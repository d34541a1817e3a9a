"""Imports run downwards; the entry point stays thin."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_import_contracts_hold() -> None:
    script = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_entry_point_imports_the_commands_only() -> None:
    tree = ast.parse((ROOT / "cli.py").read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    plain = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    assert imported == {"engine.commands"}
    assert plain == set()


def test_every_engine_package_stands_in_the_layers() -> None:
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    parts = {
        p.stem for p in (ROOT / "engine").iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()
    }
    missing = {p for p in parts - {"__init__"} if f"engine.{p}" not in contract}
    assert missing == set()
