"""The same modules in every tier: what the allowlist doesn't name is "not found", not "not permitted"."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

__all__ = ["offer_only"]


_GENERATED = "_sysconfigdata_"  # the standard library's, named after the platform


class _AllowedFinder(PathFinder):
    names: frozenset[str] = frozenset()

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        named = fullname in cls.names or fullname.startswith(_GENERATED)
        if path is None and not named:
            return None
        return super().find_spec(fullname, path, target)


def offer_only(packages: Iterable[str]) -> None:
    """Let imports find the standard library and the named top-level packages only.

    This is for clear messages; what keeps other files away is the mount namespace and Landlock.
    """
    _AllowedFinder.names = sys.stdlib_module_names | frozenset(packages)
    sys.meta_path[:] = [_AllowedFinder if finder is PathFinder else finder for finder in sys.meta_path]
