"""Names the layers of the sandbox, so that a test can take a single one away and watch an attack get through.

A layer that nobody has ever missed may be one that does nothing.  Student code always meets all of them:
`ALL_LAYERS` is the default everywhere, and a test holds that the engine makes no other value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """Which layers are up; a field that isn't given is."""

    bwrap: bool = True  # namespaces, and a file system with little in it (T1)
    fork: bool = True  # a fresh process for each submission
    rlimits: bool = True
    uid: bool = True  # a user of the slot's own, where the grader is root
    descriptors: bool = True  # everything but the job's own is closed
    landlock: bool = True
    seccomp: bool = True
    deadline: bool = True  # the grader's clock
    output: bool = True  # the cap on printed text
    order: bool = True  # replies count only when they were asked for


ALL_LAYERS: Final = Layers()
