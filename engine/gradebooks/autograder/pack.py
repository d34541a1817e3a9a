"""The zip that Gradescope takes: scripts, settings, Softmark itself, and the exercises with their keys."""

from __future__ import annotations

import importlib.metadata
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import engine
from engine.course.settings import settings_text
from engine.errors import EngineError
from engine.gradebooks.autograder.settings import AutograderSettings
from engine.spec.registry import REGISTRY_FILE, builtin_root

__all__ = ["Packing", "harness_zip"]

_HARNESS = Path(__file__).parent / "harness"
_PACKAGES = ("engine", "reference")
_BANK_FILES = ("__init__.py", REGISTRY_FILE)
# One date for all entries: the same autograder is the same file.
_DATE = (1980, 1, 1, 0, 0, 0)
_NAME = re.compile(r"[^A-Za-z0-9._-]")  # ends the name in "torch>=2.4" and in "uvicorn[standard]"


@dataclass(frozen=True)
class Packing:
    """What goes into an autograder.

    Parameters
    ----------
    settings : AutograderSettings
    title : str
        Of the course.
    key : bytes
        32 secret bytes: the hidden plans are drawn from it.
    folders : sequence of Path
        Of the exercises.
    registry : Path or None
        The course's own known mistakes.
    """

    settings: AutograderSettings
    title: str
    key: bytes
    folders: Sequence[Path]
    registry: Path | None = None


def harness_zip(packing: Packing) -> bytes:
    """Return the zip.

    ``setup.sh``, ``run_autograder``, ``autograder.json`` and ``requirements.txt`` lie at its root;
    ``softmark/`` holds the program, ``course/`` the key and what isn't in the built-in bank.

    Raises
    ------
    EngineError
        A package that grading needs isn't installed here, so its version isn't known.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in sorted(_entries(packing)):
            info = zipfile.ZipInfo(name, _DATE)
            info.external_attr = (0o100000 | mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return out.getvalue()


def _entries(packing: Packing) -> Iterator[tuple[str, bytes, int]]:
    """Yield name, content and mode of every file."""
    for script in ("setup.sh", "run_autograder"):
        yield script, (_HARNESS / script).read_bytes(), 0o755
    yield "autograder.json", packing.settings.text().encode(), 0o600
    yield "requirements.txt", "".join(f"{line}\n" for line in _requirements()).encode(), 0o644
    house = Path(engine.__file__).resolve().parent.parent
    yield "softmark/cli.py", (house / "cli.py").read_bytes(), 0o600
    for package in _PACKAGES:
        yield from _tree(house / package, f"softmark/{package}")
    for name in _BANK_FILES:
        yield f"softmark/problems/{name}", (builtin_root() / name).read_bytes(), 0o600
    yield "course/course.yaml", settings_text(packing.title).encode(), 0o600
    yield "course/.softmark/secret", packing.key, 0o600
    for folder in packing.folders:
        yield from _tree(folder, f"course/problems/code/{folder.name}")
    if packing.registry is not None:
        yield f"course/problems/{REGISTRY_FILE}", packing.registry.read_bytes(), 0o600


def _tree(folder: Path, name: str) -> Iterator[tuple[str, bytes, int]]:
    for path in _files(folder):
        yield f"{name}/{path.relative_to(folder).as_posix()}", path.read_bytes(), 0o600


def _files(folder: Path) -> Iterable[Path]:
    return (
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts
    )


def _requirements() -> list[str]:
    """Return the packages that Softmark needs, at the versions that are installed here."""
    try:
        needs = importlib.metadata.requires("softmark") or []
        names = [_NAME.split(line, maxsplit=1)[0] for line in needs if "extra ==" not in line]
        # A build's own mark ("+cpu") is no version that an index knows.
        return sorted(f"{name}=={importlib.metadata.version(name).partition('+')[0]}" for name in names)
    except importlib.metadata.PackageNotFoundError as error:
        raise EngineError(
            f"{error.name} isn't installed here, so the autograder's version of it isn't known",
            next_step="make the autograder on a Linux machine that grades",
        ) from error
