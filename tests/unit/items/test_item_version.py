"""The item version changes with what the marks depend on, and with nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.errors import EngineError
from engine.items import bank_files as version_module
from engine.items import builtin_bank, item_version, load_spec

TEXT = """\
id: item
title: An item
source: {document: S0}
difficulty: 1
bloom: apply
topics: [attention]
stem: Which?
answer: {type: number, key: 1 + 1, decimals: 2}
"""
CODE = """\
id: f
title: Write f
source: {document: S0}
difficulty: 1
bloom: apply
topics: [code]
stem: Write it.
answer:
  type: code
  function: f
  signature: f(x)
  exercise: softmax
  solutions: [solution.py]
  checks: [{id: a, property: a, points: 1}]
"""


def version_of(tmp_path: Path, text: str) -> str:
    path = tmp_path / "item.yaml"
    path.write_text(text, encoding="utf-8")
    return item_version(load_spec(path))


def test_it_is_16_hexadecimal_digits_and_stable(tmp_path: Path) -> None:
    version = version_of(tmp_path, TEXT)
    assert re.fullmatch("[0-9a-f]{16}", version)
    assert version_of(tmp_path, TEXT) == version


def test_layout_comments_and_written_defaults_change_nothing(tmp_path: Path) -> None:
    version = version_of(tmp_path, TEXT)
    lines = TEXT.splitlines()
    assert version_of(tmp_path, "# note\n" + "\r\n".join(reversed(lines)) + "\n\n") == version
    assert version_of(tmp_path, TEXT + "points: 1.0\nstatus: ok\nhints: []\n") == version


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Which?", "Which"),
        ("decimals: 2", "decimals: 3"),
        ("1 + 1", "1 + 2"),
        ("difficulty: 1", "difficulty: 2"),
        ("decimals: 2", "decimals: 2, tolerance: 0.1"),
    ],
)
def test_content_changes_it(tmp_path: Path, old: str, new: str) -> None:
    assert version_of(tmp_path, TEXT.replace(old, new)) != version_of(tmp_path, TEXT)


def test_the_digits_of_a_tolerance_are_exact(tmp_path: Path) -> None:
    one = version_of(tmp_path, TEXT.replace("decimals: 2", "decimals: 2, tolerance: 0.10000000001"))
    other = version_of(tmp_path, TEXT.replace("decimals: 2", "decimals: 2, tolerance: 0.1"))
    assert one != other


def test_the_reference_version_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = version_of(tmp_path, TEXT)
    monkeypatch.setattr(version_module, "reference_version", lambda: "999")
    assert version_of(tmp_path, TEXT) != before


def test_the_reference_version_is_the_one_that_python_would_import() -> None:
    import reference

    assert version_module.reference_version() == reference.__version__


def test_a_reference_without_version_is_an_engine_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "engine" / "__init__.py"
    monkeypatch.setattr(version_module.engine, "__file__", str(fake))
    version_module.reference_version.cache_clear()
    with pytest.raises(EngineError, match="can't be read"):
        version_module.reference_version()
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "__init__.py").write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(EngineError, match="no version"):
        version_module.reference_version()
    version_module.reference_version.cache_clear()


def test_the_files_of_a_code_exercise_count(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(CODE, encoding="utf-8")
    for name in ("starter.py", "solution.py", "other.py"):
        (tmp_path / name).write_text("def f(x): ...\n", encoding="utf-8")
    spec = load_spec(path)
    before = item_version(spec, path)
    (tmp_path / "other.py").write_text("not part of it\n", encoding="utf-8")
    (tmp_path / "solution.py").write_bytes(b"def f(x): ...\r\n")  # the same on Windows
    assert item_version(spec, path) == before
    (tmp_path / "solution.py").write_text("def f(x): return x\n", encoding="utf-8")
    assert item_version(spec, path) != before
    with pytest.raises(ValueError, match="needs the path"):
        item_version(spec)
    (tmp_path / "solution.py").unlink()
    with pytest.raises(EngineError, match="can't be read"):
        item_version(spec, path)


def test_the_items_of_the_bank_have_different_versions() -> None:
    bank = builtin_bank()
    versions = [bank.version(item_id) for item_id in bank.ids()]
    assert len(set(versions)) == len(versions)
