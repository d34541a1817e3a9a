"""How an interpreter is started that gets a part of ``inside`` and the allowed packages only (Linux)."""

from __future__ import annotations

from engine.sandbox.layout import Layout, walkable_by_others

__all__ = ["ENVIRONMENT", "interpreter_command", "must_hold"]

ENVIRONMENT = {
    "HOME": "/",
    "LANG": "C.UTF-8",
    "LOGNAME": "student",
    "MALLOC_ARENA_MAX": "2",  # every further arena reserves 64 MiB of address space
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PATH": "",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TORCHINDUCTOR_CACHE_DIR": "/",  # torch makes the folder at import: give it one that exists
}
# as -I, but the environment, which is all ours, counts
_FLAGS = ("-P", "-s", "-S")
# Folders that the child's user can't walk to are opened first and reached through /proc/self/fd.
_BOOTSTRAP = """
import os, sys
part, inside, held, *path = sys.argv[1:]
if held == "held":
    for i, folder in enumerate(path):
        fd = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        os.dup2(fd, 100 + i)
        os.close(fd)
        for module in list(sys.modules.values()):
            if getattr(module, "__path__", None):
                held_at = f"/proc/self/fd/{100 + i}/"
                module.__path__ = [p.replace(folder + "/", held_at) for p in module.__path__]
    path = [f"/proc/self/fd/{100 + i}" for i in range(len(path))]
sys.path[:] = [*path, inside]
sys.path_importer_cache.clear()
sys.argv[:] = [""]
import importlib
main = importlib.import_module(part).main
sys.path.remove(inside)
main()
"""


def must_hold(layout: Layout) -> bool:
    """Tell whether module folders must be held open: a user of the slot's own couldn't walk to them."""
    return not all(walkable_by_others(path) for path in layout.module_path)


def interpreter_command(layout: Layout, part: str, *, held: bool) -> list[str]:
    """Return the command that runs ``main`` of ``inside/<part>.py``.

    Parameters
    ----------
    layout : Layout
    part : str
        Name of the module.
    held : bool
        Whether module folders are opened first and reached by descriptors from 100 on.
    """
    start = [str(layout.executable), *_FLAGS, "-c", _BOOTSTRAP, f"inside.{part}", str(layout.inside.parent)]
    return [*start, "held" if held else "named", *map(str, layout.module_path)]
