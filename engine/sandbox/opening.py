"""Opens a runner of the strongest tier."""

from __future__ import annotations

from engine.errors import SandboxError
from engine.runner import Runner
from engine.sandbox.tiers import choose_tier

__all__ = ["LAYERS", "open_runner"]

# names for `off`: what a test can switch off to see that the layer matters
LAYERS = frozenset(
    {"bwrap", "fork", "rlimits", "uid", "descriptors", "landlock", "seccomp", "deadline", "output", "order"}
)


def open_runner(
    *, tier: str | None = None, slots: int = 1, unsafe_local: bool = False, off: frozenset[str] = frozenset()
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
        Allow T3, which doesn't stop hostile code: for practice with one's own code.
    off : frozenset of str
        Layers to switch off (`LAYERS`).  For tests of the sandbox only.

    Returns
    -------
    Runner
        At once: its processes start in the background, the first `run` waits for them.

    Raises
    ------
    SandboxError
        If the demanded tier lacks a layer, or only T3 is left and not allowed.
    """
    if slots < 1:
        raise SandboxError("a runner needs at least one slot", got=str(slots))
    if not off <= LAYERS:
        raise SandboxError("unknown layers", expected=", ".join(sorted(LAYERS)), got=", ".join(sorted(off)))
    chosen = choose_tier(tier, unsafe_local=unsafe_local)
    if chosen == "T3":
        from engine.sandbox.local import LocalRunner

        return LocalRunner(slots)
    from engine.sandbox.runner import SandboxRunner

    return SandboxRunner(chosen, slots, off)
