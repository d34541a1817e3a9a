"""What must not be in the repository, and what must."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def tracked() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_tracked_file_names_a_folder_of_one_machine() -> None:
    bad = "/" + "work/"
    named = [p for p in tracked() if bad.encode() in p.read_bytes()]
    assert named == []


def test_every_package_says_what_it_is() -> None:
    packages = [p for p in tracked() if p.name == "__init__.py" and "tests" not in p.parts]
    silent = [p for p in packages if not p.read_text(encoding="utf-8").startswith('"""')]
    assert silent == []


def test_the_changelog_is_kept() -> None:
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
