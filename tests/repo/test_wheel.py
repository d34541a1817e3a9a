"""The wheel holds what it should, and runs beside hostile files of the same names."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
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
    assert "engine/gradebooks/autograder/harness/run_autograder" in names
    assert not any(name.endswith(".pyc") for name in names)


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
