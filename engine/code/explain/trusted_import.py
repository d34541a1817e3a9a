"""Imports of the files beside a trusted source, without a trace in this process's modules."""

from __future__ import annotations
import __future__

import ast
import builtins
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

__all__ = ["Importer", "run_statements"]

_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_LIBRARIES = sys.stdlib_module_names | {"numpy", "torch"}


def run_statements(source: str, filename: str, namespace: dict[str, Any], raised: list[Exception]) -> None:
    """Run a file of ours as the sandbox runs a student's: what a statement raises doesn't stop the rest.

    Parameters
    ----------
    source, filename : str
    namespace : dict
        The module's.
    raised : list of Exception
        What its statements raise is added here.

    Raises
    ------
    SyntaxError
        The source isn't Python: nothing of it is run.
    """
    flags = compile(source, filename, "exec", dont_inherit=True).co_flags & _FUTURE
    tree = compile(source, filename, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    for place, statement in enumerate(tree.body):
        if place and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # it does nothing, and would pass for a docstring
        try:
            exec(compile(ast.Module([statement], []), filename, "exec", flags, dont_inherit=True), namespace)
        except Exception as error:
            raised.append(error)


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
    raised : list of Exception
        What a statement of theirs raises is noted here, and the rest of that file is run all the same.
    """

    def __init__(
        self, main: ModuleType, source: str, modules: Mapping[str, str], raised: list[Exception]
    ) -> None:
        self._raised = raised
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
                run_statements(self._sources[name], f"{name}.py", module.__dict__, self._raised)
            except BaseException:
                del self._loaded[name]
                raise
        return self._loaded[name]
