"""Spoiled copies of items of the bank."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.authoring.lint import LintReport
from engine.authoring.lint.lint_items import lint_item
from engine.authoring.lint.subject import LintSubject
from engine.items import builtin_bank, load_spec
from engine.text.yaml import read_yaml

Data = dict[str, Any]
Change = Callable[[Data], object]


class Spoiler:
    """Writes changed copies of items into a folder, loads and lints them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bank = builtin_bank()

    def write(self, item: str, change: Change) -> Path:
        data = yaml.safe_load(self.bank.path(item).read_text(encoding="utf-8"))
        change(data)
        path = self.folder / f"{item}.yaml"
        path.write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), encoding="utf-8")
        return path

    def lint(self, item: str, change: Change, *, seeds: int = 3, strict: bool = False) -> LintReport:
        path = self.write(item, change)
        return lint_item(load_spec(path), path, self.bank, seeds=seeds, strict=strict)

    def subject(self, item: str, change: Change = lambda data: None, *, seeds: int = 3) -> LintSubject:
        path = self.write(item, change)
        return LintSubject(load_spec(path), "0", self.bank.registry(), seeds, path, read_yaml(path))


@pytest.fixture
def spoiler(tmp_path: Path) -> Spoiler:
    """Where a test spoils items."""
    return Spoiler(tmp_path)
