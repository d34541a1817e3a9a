"""Virtual environments of the peers: made once, pinned, bytecode compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["NAMES", "default_cache", "environment"]

HERE = Path(__file__).parent
# what is asked for; everything that comes with it is pinned in the file of that name
NAMES = {
    "pytest": ("pytest", "numpy", "torch"),
    "gradescope-utils": ("gradescope-utils", "numpy", "torch"),
    "text2qti": ("text2qti",),
    "qti-package-maker": ("qti-package-maker",),
    "girth": ("girth",),
    "otter-grader": ("otter-grader", "ipykernel", "numpy", "torch"),
}


def default_cache() -> Path:
    """Return the folder for environments in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(base) / "softmark" / "peers"


def environment(name: str, cache: Path) -> Path:
    """Return the Python of a peer's environment, made if it isn't there or was made from other pins.

    Raises
    ------
    subprocess.CalledProcessError
        Something can't be installed.
    """
    pins = HERE / f"{name}.txt"
    folder = cache / name
    python, stamp = folder / "bin/python", folder / "made-from.txt"
    wanted = f"{sys.version}\n{pins.read_text(encoding='utf-8')}"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    print(f"making the environment of {name} in the cache folder (once) …", file=sys.stderr, flush=True)
    _run(sys.executable, "-m", "venv", "--clear", folder)
    _run(python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "-c", pins, *NAMES[name])
    # exit status 1 only says that some file isn't for this Python, e.g. a template
    subprocess.run([python, "-m", "compileall", "-q", folder / "lib"], capture_output=True, check=False)
    stamp.write_text(wanted, encoding="utf-8")
    return python


def _run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True, stdout=sys.stderr)
