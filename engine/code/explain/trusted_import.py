"""Imports of the files beside a trusted source, without a trace in this process's modules."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

__all__ = ["Importer"]

_LIBRARIES = sys.stdlib_module_names | {"numpy", "torch"}


class Importer:
    """An ``__import__`` that knows some sources; a library of the same name wins.

    Parameters
    ----------
    main : module
        The submission's own, empty yet; its imports go this way from now on.
    source : str
        Its own source: a module of the same source is the submission itself.
    modules : mapping of str to str
        Module name to source.
    """

    def __init__(self, main: ModuleType, source: str, modules: Mapping[str, str]) -> None:
        self._sources = {name: text for name, text in modules.items() if name not in _LIBRARIES}
        self._loaded = {name: main for name, text in self._sources.items() if text == source}
        self._builtins = {**vars(builtins), "__import__": self._import}
        main.__dict__["__builtins__"] = self._builtins

    def _import(
        self,
        name: str,
        scope: Mapping[str, Any] | None = None,
        inner: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if level == 1 and not name:
            return SimpleNamespace(**{wanted: self._module(wanted) for wanted in fromlist or ()})
        if level == 1 or (not level and name in self._sources):
            return self._module(name)
        return builtins.__import__(name, scope, inner, fromlist or (), level)

    def _module(self, name: str) -> Any:
        if name not in self._sources:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name not in self._loaded:
            module = self._loaded[name] = ModuleType(name)
            module.__file__ = f"{name}.py"
            module.__dict__["__builtins__"] = self._builtins
            try:
                exec(compile(self._sources[name], f"{name}.py", "exec"), module.__dict__)
            except BaseException:
                del self._loaded[name]
                raise
        return self._loaded[name]
