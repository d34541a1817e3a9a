"""The wheel holds what it should, and runs beside hostile files of the same names."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return next(folder.glob("softmark-*.whl"))


def test_the_wheel_holds_the_engine_the_bank_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"cli.py", "engine", "problems", "reference"}
    assert "problems/l16/l16-ex1-context-vector.yaml" in names
    assert "problems/code/softmax/softmax.yaml" in names
    assert "engine/runs/harness/run_autograder" in names
    assert not any(name.endswith(".pyc") for name in names)
    licences = [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]
    assert len(licences) == 1
    assert zipfile.ZipFile(wheel).read(licences[0]) == (ROOT / "LICENSE").read_bytes()
    metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
    assert "License-Expression: MIT" in zipfile.ZipFile(wheel).read(metadata).decode()


def test_the_source_archive_would_hold_what_a_build_and_the_tests_need() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    assert {"LICENSE", "README.md", "tests", "examples", "benchmarks", "engine", "cli.py"} <= set(included)
    assert [name for name in included if not (ROOT / name).exists()] == []


def test_what_is_installed_under_these_names_is_ours(wheel: Path) -> None:
    """The names are common ones; a file that isn't in this repository would be somebody else's."""
    names = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    assert [name for name in names if not (ROOT / name).is_file()] == []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"`{top}`" in readme for top in {name.split("/")[0].removesuffix(".py") for name in names})


def test_the_installed_command_ignores_hostile_files_beside_it(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv/bin/python"
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True)
    # The dependencies come from this environment, behind the new venv's own packages.
    purelib = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    Path(purelib, "zz_dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in ("engine", "cli", "torch", "click", "problems", "reference"):
        (folder / f"{name}.py").write_text("raise SystemExit('hijacked')\n", encoding="utf-8")
    grade = tmp_path / "venv/bin/grade"
    for arguments in (["--help"], ["--version"], ["list"]):
        done = subprocess.run([grade, *arguments], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "hijacked" not in done.stdout + done.stderr
