"""Which files a zygote and its children may see: an allowlist, never a folder of packages as a whole.

The folder that holds torch also holds `reference` and `problems` when Softmark is installed from a
wheel, so packages are named one by one; the standard library is taken without its ``site-packages``.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

__all__ = [
    "COMMON_PACKAGES",
    "Layout",
    "find_layout",
    "missing_packages",
    "offer_packages",
    "walkable_by_others",
]

COMMON_PACKAGES = ("einops", "jaxtyping", "pandas", "scipy")
"""What is offered beside torch and numpy unless a course says otherwise, as far as it is installed."""

# torch, numpy, and what importing them needs; what a CPU build lacks is passed over
_PACKAGES = (
    "torch",
    "torchgen",
    "functorch",
    "torch.libs",
    "numpy",
    "numpy.libs",
    "typing_extensions.py",
    "sympy",
    "mpmath",
    "networkx",
    "jinja2",
    "markupsafe",
    "filelock",
    "fsspec",
    "nvidia",
    "triton",
)
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
_DEVICES = (Path("/dev/urandom"), Path("/dev/zero"))  # torch.seed() reads the first
_INSIDE = Path(__file__).parent / "inside"


@dataclass(frozen=True)
class Layout:
    """Paths as they are outside; inside they are the same.

    Parameters
    ----------
    executable : Path
        The base interpreter, not the environment's link to it.
    standard : Path
        The standard library's folder.
    site_folders : tuple of Path
        Where the packages lie.
    packages : tuple of Path
        The packages themselves: folders and single files.
    libraries : tuple of Path
        Folders and files of the C libraries.
    inside : Path
        Our own part that runs beside student code.
    """

    executable: Path
    standard: Path
    site_folders: tuple[Path, ...]
    packages: tuple[Path, ...]
    libraries: tuple[Path, ...]
    inside: Path

    @property
    def masked(self) -> tuple[Path, ...]:
        """Package folders within the standard library's folder: to be hidden."""
        return tuple(self.standard / name for name in _PACKAGE_FOLDERS if (self.standard / name).is_dir())

    @property
    def masked_in_libraries(self) -> tuple[Path, ...]:
        """Folders of Python's within those of the C libraries (where the latter is ``/usr/lib``)."""
        found = (path for folder in self.libraries if folder.is_dir() for path in folder.glob("python*"))
        return tuple(path for path in found if path.is_dir())

    @property
    def module_path(self) -> tuple[Path, ...]:
        """The ``sys.path`` of zygote and child."""
        extensions = (self.standard / "lib-dynload", Path(sys.base_prefix, "DLLs"))
        return (self.standard, *(p for p in extensions if p.is_dir()), *self.site_folders)

    @property
    def package_names(self) -> tuple[str, ...]:
        """What the packages are called in an import."""
        return tuple(path.stem for path in self.packages)

    def readable(self) -> tuple[Path, ...]:
        """Return what Landlock lets a child read: the packages, and the standard library entry by entry.

        The C libraries are loaded before; a child that imports a further extension module needs
        those that it links to.
        """
        standard = (entry for entry in self.standard.iterdir() if entry.name not in _PACKAGE_FOLDERS)
        libraries = (path for entry in self.libraries for path in _without_python(entry))
        return (*sorted(standard), *self.packages, *libraries, *_DEVICES)


_offered: tuple[str, ...] = COMMON_PACKAGES


def offer_packages(names: Iterable[str]) -> None:
    """Offer these packages in every sandbox that is started from now on, as far as they are installed."""
    global _offered
    _offered = tuple(dict.fromkeys(names))


def missing_packages(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the packages that can't be offered, because they aren't installed beside torch."""
    folders = find_layout().site_folders
    return tuple(name for name in names if not any(_package_paths(name, folders)))


def find_layout() -> Layout:
    """Return the layout of the running interpreter's standard library, torch, numpy and what is offered."""
    return _layout(_offered)


@functools.cache
def _layout(offered: tuple[str, ...]) -> Layout:
    standard = Path(sysconfig.get_path("stdlib")).resolve()
    site_folders = tuple(dict.fromkeys(_package_folder(name) for name in ("torch", "numpy")))
    packages = [folder / name for folder in site_folders for name in _PACKAGES if (folder / name).exists()]
    packages += [path for name in offered for path in _package_paths(name, site_folders)]
    return Layout(
        executable=Path(getattr(sys, "_base_executable", None) or sys.executable).resolve(),
        standard=standard,
        site_folders=site_folders,
        packages=tuple(dict.fromkeys(packages)),
        libraries=tuple(_libraries()),
        inside=_INSIDE,
    )


@functools.cache
def _package_paths(name: str, folders: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the folders and files of a package and of all that it needs; nothing if it isn't here."""
    own = [path for folder in folders for path in (folder / name, folder / f"{name}.py") if path.exists()]
    if not own:
        return ()
    found = _distribution(name, folders)
    if found is None:  # sklearn is of scikit-learn; to look for it takes seconds
        holders = metadata.packages_distributions().get(name, [])
        found = next(filter(None, (_distribution(holder, folders) for holder in holders)), None)
    waiting, seen, paths = [found] if found else [], set[str](), list(own)
    while waiting:
        one = waiting.pop()
        if one.name not in seen:
            seen.add(one.name)
            paths += _entries_of(one)
            waiting += [needed for line in _needs(one) if (needed := _distribution(line, folders))]
    return tuple(dict.fromkeys(path for path in paths if path.exists()))


def _distribution(name: str, folders: tuple[Path, ...]) -> metadata.Distribution | None:
    return next(iter(metadata.distributions(name=name, path=[str(folder) for folder in folders])), None)


def _entries_of(found: metadata.Distribution) -> Iterator[Path]:
    """Yield what a distribution put into the packages' folder: packages, modules, and their C libraries."""
    lines = (found.read_text("RECORD") or "").splitlines()
    for name in sorted({line.partition(",")[0].partition("/")[0] for line in lines}):
        if name not in ("", "..", "__pycache__", "bin") and not name.endswith((".dist-info", ".pth")):
            yield Path(str(found.locate_file(name)))


def _needs(found: metadata.Distribution) -> Iterator[str]:
    """Yield the names of what a distribution requires, without its extras."""
    for line in found.requires or ():
        needed, _, marker = line.partition(";")
        named = re.match(r"[\w.-]+", needed.strip())
        if named and "extra" not in marker:
            yield named.group()


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{name} isn't installed")
    return Path(spec.origin).parent.parent.resolve()


def _without_python(folder: Path) -> list[Path]:
    """Return the folder, or its entries but Python's if it holds folders of Python's packages."""
    if not folder.is_dir() or not any(path.is_dir() for path in folder.glob("python*")):
        return [folder]
    return sorted(path for path in folder.iterdir() if not path.name.startswith("python"))


def _libraries() -> list[Path]:
    """Return the folders that hold the C library and its kin, and the interpreter's own libraries."""
    triple = sysconfig.get_config_var("MULTIARCH") or ""
    multiarch = [Path(root, triple) for root in ("/lib", "/usr/lib") if triple]
    found = [p for p in multiarch if p.is_dir()] or [Path("/lib"), Path("/usr/lib")]
    found += [p for p in (Path("/lib64"), Path("/usr/lib64")) if p.is_dir()]
    own = Path(sysconfig.get_config_var("LIBDIR") or sys.base_prefix).resolve()
    if own in {path.resolve() for path in found}:
        return found
    return found + sorted(path for path in own.glob("*.so*") if path.is_file())


def walkable_by_others(path: Path) -> bool:
    """Tell whether a user who owns nothing here can walk to `path`."""
    return all(parent.stat().st_mode & 0o001 for parent in (path, *path.parents) if parent.is_dir())
