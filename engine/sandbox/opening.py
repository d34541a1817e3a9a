"""Opens a runner of the strongest tier."""

from __future__ import annotations

from engine.errors import SandboxError
from engine.runner import Runner
from engine.sandbox.tiers import choose_device_base, choose_tier

__all__ = ["DEVICES", "LAYERS", "open_runner"]

DEVICES = ("cpu", "cuda")

# names for `off`: what a test can switch off to see that the layer matters
LAYERS = frozenset(
    {"bwrap", "fork", "rlimits", "uid", "descriptors", "landlock", "seccomp", "deadline", "output", "order"}
)


def open_runner(
    *,
    tier: str | None = None,
    slots: int = 1,
    unsafe_local: bool = False,
    device: str = "cpu",
    off: frozenset[str] = frozenset(),
) -> Runner:
    """Open a runner for student code.

    Parameters
    ----------
    tier : {"T1", "T2", "T3"}, optional
        Demand this tier; otherwise the strongest that the machine can give.
    slots : int
        How many submissions may run at the same time; 0.5 GiB of memory each, and what the
        submissions use.
    unsafe_local : bool
        Allow T3 and a GPU, which don't stop hostile code: for practice with one's own code.
    device : {"cpu", "cuda"}
        Where tensors are; ``"cuda"`` waits until a first worker is ready.
    off : frozenset of str
        Layers to switch off (`LAYERS`).  For tests of the sandbox only.

    Returns
    -------
    Runner
        At once: its processes start in the background, the first `run` waits for them.

    Raises
    ------
    SandboxError
        If the demanded tier lacks a layer, or only T3 (or a GPU) is left and not allowed.
    NoDeviceError
        If the machine has no such device.
    """
    if slots < 1:
        raise SandboxError("a runner needs at least one slot", got=str(slots))
    if not off <= LAYERS:
        raise SandboxError("unknown layers", expected=", ".join(sorted(LAYERS)), got=", ".join(sorted(off)))
    if device not in DEVICES:
        raise SandboxError("unknown device", expected=", ".join(DEVICES), got=device)
    if device != "cpu":
        return _open_device(device, tier, slots, unsafe_local=unsafe_local, off=off)
    chosen = choose_tier(tier, unsafe_local=unsafe_local)
    if chosen == "T3":
        from engine.sandbox.local import LocalRunner

        return LocalRunner(slots)
    from engine.sandbox.runner import SandboxRunner

    return SandboxRunner(chosen, slots, off)


def _open_device(
    device: str, tier: str | None, slots: int, *, unsafe_local: bool, off: frozenset[str]
) -> Runner:
    from engine.sandbox.device import DeviceRunner, WorkerPool

    if not unsafe_local:
        raise SandboxError(
            f"{device} is a weaker tier: its driver stands open to student code",
            next_step="leave --device out, or pass --unsafe-local, for code that you trust only",
        )
    base = choose_device_base(tier)
    pool = WorkerPool(device, base=base, slots=slots, off=off)
    try:
        pool.check()
    except BaseException:
        pool.close()
        raise
    return DeviceRunner(pool, lambda: open_runner(tier=tier, slots=slots, unsafe_local=unsafe_local))
