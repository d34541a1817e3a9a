"""Theft from an installed wheel, where `reference` and `problems` lie in the same folder as torch.

The corpus itself runs from a checkout (an editable install).  Here an environment is laid out as
``pip install softmark`` leaves it: our packages copied into its site-packages beside the others,
which are hard links, so nothing is downloaded and little is copied.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from arena_client import ATTACKS, PROJECT, USERS, Arena, checked, opened

_THEFTS = (
    "files/import_reference",
    "files/import_engine",
    "files/import_problems",
    "files/read_bank",
    "files/read_reference",
    "files/walk_for_bank",
    "files/metadata",
    "files/poison_library",
    "files/path_descriptors",
    "files/own_harness",
)
# thousands of files that neither the sandbox nor a theft has any use for
_NOT_NEEDED = (
    "include",
    "pip*",
    "mypy*",
    "setuptools*",
    "hypothesis*",
    "sqlalchemy*",
    "alembic*",
    "pygments*",
)
# the names by which pip knows an installed distribution, and a line of its record
_METADATA = {
    "METADATA": "Metadata-Version: 2.1\nName: softmark\nVersion: 0\n",
    "RECORD": "reference/__init__.py,,\n",
}


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    """The interpreter of an environment that has Softmark installed, not linked to the checkout."""
    ours = Path(sysconfig.get_path("purelib"))
    home = Path(tempfile.mkdtemp(prefix="softmark-installed-", dir=_place(ours)))
    home.chmod(0o755)
    site = home / ours.relative_to(sys.prefix)
    site.parent.mkdir(parents=True)
    skipped = shutil.ignore_patterns("*.pth", "softmark*", *_NOT_NEEDED)
    shutil.copytree(ours, site, copy_function=_link_or_copy, ignore=skipped, symlinks=True)
    for name in ("engine", "problems", "reference"):
        shutil.copytree(PROJECT / name, site / name, ignore=skipped)
    metadata = site / "softmark-0.dist-info"
    metadata.mkdir()
    for name, text in _METADATA.items():
        (metadata / name).write_text(text)
    (home / "bin").mkdir()
    python = home / "bin" / "python"
    python.symlink_to(Path(sys.executable).resolve())
    shutil.copy2(Path(sys.prefix) / "pyvenv.cfg", home / "pyvenv.cfg")
    yield python
    shutil.rmtree(home)


def _place(site: Path) -> Path | None:
    """Return the temporary folder if hard links to `site` can be made there, else a folder beside it."""
    same = os.stat(tempfile.gettempdir()).st_dev == os.stat(site).st_dev
    return None if same else Path(sys.prefix).parent


def _inner_arena(user: str, python: Path) -> Arena:
    return Arena(user, python=python, project_path="")


@pytest.fixture(scope="module")
def installed_arenas(installed: Path) -> Iterator[dict[str, Arena]]:
    arenas = {user: _inner_arena(user, installed) for user in (USERS if os.geteuid() == 0 else ("user",))}
    yield arenas
    for arena in arenas.values():
        arena.close()


def test_the_environment_is_an_installed_one(installed: Path) -> None:
    names = ("engine", "reference", "problems", "torch")
    code = f"import {', '.join(names)}; print({', '.join(f'{name}.__file__' for name in names)})"
    shown = subprocess.run(
        [installed, "-c", code], capture_output=True, text=True, check=True, cwd="/"
    ).stdout
    folders = {str(Path(line).parent.parent) for line in shown.split()}
    assert len(folders) == 1
    assert str(PROJECT) not in shown


def test_no_theft_from_an_installed_wheel(user: str, tier: str, installed_arenas: dict[str, Arena]) -> None:
    arena = installed_arenas[user]
    name = opened(arena, tier)
    for theft in _THEFTS:
        report = checked(arena.report(do="attack", runner=name, path=str(ATTACKS[theft].path)))
        assert report["raised"] is None, theft
        assert report["statuses"] == ["returned"], theft
        assert not report["succeeded"], (theft, report["detail"])
        assert report["good"] is None, theft


def test_the_thefts_work_without_a_sandbox(installed_arenas: dict[str, Arena]) -> None:
    for theft in _THEFTS:
        if ATTACKS[theft].control == "naive-root":
            continue
        report = checked(installed_arenas["user"].report(do="naive", path=str(ATTACKS[theft].path)))
        assert report["succeeded"], theft
