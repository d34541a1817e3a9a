"""What a submission can import: the packages that are offered, and the files handed in beside it.

Those files are modules that are never written anywhere.  They come last: the standard library and the
packages win over a student's file that has the name of one of them.  A package that isn't offered is
"not found" in every tier, where Landlock would say "not permitted".
"""

from __future__ import annotations
import __future__

import ast
import builtins
import importlib
import linecache
import os
import sys
import types
from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from itertools import islice, pairwise
from types import ModuleType
from typing import Any, Final

MAIN: Final = "submission"
COMPILER: Final = "torch._dynamo"
"""Torch's compiler: the first optimiser, function transform or ``compile`` loads it, which takes a second."""
LIBRARIES: Final = ("numpy", "torch", COMPILER)
"""What a process may have loaded for submissions; each has those before it too."""
HEAVIER: Final = dict(pairwise(LIBRARIES))
_ABSENT: Final = {
    "numpy": {"torch"},
    # the second is what the compiler begins with, and what `backward` loads when it is given a gradient
    "torch": {COMPILER, "torch.fx.experimental.symbolic_shapes"},
}
# Exit statuses that the child uses itself; any other is the student's doing. They stand here because this
# module needs no numpy: the grader starts a zygote before it loads that.
OUR_FAULT: Final = 71
DEVICE_LOST: Final = 72  # an error after which a GPU answers nothing in this process
NEEDS_MORE: Final = 73
"""Exit status of a process that looked for a library that it has not: the job is run again beside it."""
_FUTURE: Final = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)

Tolerate = Callable[[BaseException], None]
"""Takes what a statement raised: notes it and returns, or raises it again if loading must end there."""


class _Spec(ModuleSpec):
    """A spec by which relative imports of top-level files find each other, as in one package."""

    package = ""

    @property
    def parent(self) -> str:
        return self.package


def add_source(filename: str, source: str) -> None:
    """Make the lines of a file known, for tracebacks and `inspect`."""
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)


def main_module(filename: str, source: str, others: Mapping[str, str]) -> ModuleType:
    """Return the empty module of the submission, registered under its names.

    Parameters
    ----------
    filename, source : str
    others : mapping of str to str
        Module name to source; one that has the submission's own source is the submission.

    Returns
    -------
    module
        Named ``submission``, so that a ``__main__`` guard doesn't run.
    """
    name = MAIN if MAIN not in others else f"{MAIN}_"
    module = ModuleType(name)
    spec = ModuleSpec(name, None, origin=filename, is_package=True)
    spec._initializing = True  # type: ignore[attr-defined]  # so that Python names a circular import
    module.__file__, module.__spec__, module.__package__, module.__path__ = filename, spec, name, []
    sys.modules[name] = module
    for other, text in others.items():
        if text == source and other not in sys.modules:
            sys.modules[other] = module
    return module


def run_statements(source: str, filename: str, namespace: dict[str, Any], tolerate: Tolerate) -> None:
    """Run a file statement by statement: one that raises doesn't keep the others from being run.

    A notebook goes on after a failing cell too, and what a file defines before and after a failing plot,
    demo or import is what its author wants to be marked.

    Parameters
    ----------
    source, filename : str
    namespace : dict
        The module's.
    tolerate : callable
        See `Tolerate`.

    Raises
    ------
    SyntaxError
        The source isn't Python: nothing of it is run.
    BaseException
        Whatever `tolerate` raises.
    """
    whole = compile(source, filename, "exec", dont_inherit=True)
    reached = _raised_at(whole, namespace, tolerate)
    if reached is None:
        return
    flags = whole.co_flags & _FUTURE
    try:
        tree = compile(source, filename, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        starts = [_start(statement) for statement in tree.body]
    except (RecursionError, MemoryError, ValueError):  # too deep for a tree of objects, but not for Python
        return
    following = bisect(starts, reached)
    size = 1  # doubles while all goes well, so that a long file isn't compiled again for every statement
    while following < len(starts):
        chunk = tree.body[following : following + size]
        plain = [statement for statement in chunk if not _is_text(statement)]
        code = compile(ast.Module(plain, []), filename, "exec", flags, dont_inherit=True)
        reached = _raised_at(code, namespace, tolerate)
        following = following + len(chunk) if reached is None else max(following + 1, bisect(starts, reached))
        size = 2 * size if reached is None else 1


def _raised_at(code: types.CodeType, namespace: dict[str, Any], tolerate: Tolerate) -> tuple[int, int] | None:
    """Run a module's code and return the line and column at which it raised; None if it didn't.

    Where that can't be known, the place is behind the whole file, so that nothing runs twice.
    """
    try:
        builtins.exec(code, namespace)
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code is not code:
            trace = trace.tb_next
        place = (sys.maxsize, 0)
        if trace is not None:
            for line, _, column, _ in islice(code.co_positions(), trace.tb_lasti // 2 + 1):
                place = place if line is None else (line, column or 0)
        del trace
        tolerate(error)
        return place
    return None


def _start(statement: ast.stmt) -> tuple[int, int]:
    # decorators come before the statement's own position
    parts = [statement, *getattr(statement, "decorator_list", [])]
    return min((part.lineno, part.col_offset) for part in parts)


def _is_text(statement: ast.stmt) -> bool:
    # as the first of a chunk it would be taken for a docstring
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def offer_modules(
    package: ModuleType, sources: Mapping[str, str], filenames: Mapping[str, str], tolerate: Tolerate
) -> None:
    """Let imports find the files too, after everything else.

    Parameters
    ----------
    package : module
        The submission's own: ``from .name import f`` works in it and in all of them.
    sources, filenames : mapping of str to str
        By module name.
    tolerate : callable
        Called with the exception of a statement of theirs that raises.
    """
    ours = __package__.partition(".")[0]  # a student's file may have the name of our package
    if ours in sources and ours in sys.modules:
        del sys.modules[ours]
    sys.meta_path.append(_Finder(package.__name__, sources, filenames, tolerate))


class _Finder(MetaPathFinder):
    def __init__(
        self, package: str, sources: Mapping[str, str], filenames: Mapping[str, str], tolerate: Tolerate
    ) -> None:
        self._package = package
        self._sources = sources
        self._filenames = filenames
        self._tolerate = tolerate
        self._main_names = {n for n in sources if sys.modules.get(n) is sys.modules[package]}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        if name not in self._sources or package not in ("", self._package):
            return None
        if package:
            if name in self._main_names:  # or `from softmax import softmax` would find the module itself
                return None
            return ModuleSpec(fullname, _Alias(name))
        filename = self._filenames[name]
        spec = _Spec(name, _FromText(self._sources[name], filename, self._tolerate), origin=filename)
        spec.has_location = True  # the module gets its __file__
        spec.package = self._package
        return spec


class _FromText(InspectLoader):
    def __init__(self, source: str, filename: str, tolerate: Tolerate) -> None:
        self._source = source
        self._filename = filename
        self._tolerate = tolerate

    def get_source(self, fullname: str) -> str:
        return self._source

    def is_package(self, fullname: str) -> bool:
        return False

    def exec_module(self, module: types.ModuleType) -> None:
        add_source(self._filename, self._source)
        run_statements(self._source, self._filename, module.__dict__, self._tolerate)


class _Alias(Loader):
    """Gives the module of a top-level name, so that no file is run twice."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: Any = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # importlib has just put the alias's in its place


_GENERATED = "_sysconfigdata_"  # the standard library's, named after the platform


class _AllowedFinder(PathFinder):
    names: frozenset[str] = frozenset()
    absent: Collection[str] = ()

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # whoever asks: where the source shows no import of torch, a name that it computes or a package may
        if fullname in cls.absent:
            os._exit(NEEDS_MORE)
        if path is None and fullname not in cls.names and not fullname.startswith(_GENERATED):
            return None
        return super().find_spec(fullname, path, target)


def offer_only(packages: Iterable[str], *, beside: str) -> None:
    """Let imports find the standard library and the named top-level packages only.

    The process ends with `NEEDS_MORE` when a heavier library is looked for than it has `beside` it: loading
    that here would take the submission's own time and memory.

    This is for clear messages; what keeps other files away is the mount namespace and Landlock.
    """
    _AllowedFinder.absent = _ABSENT.get(beside, ())
    _AllowedFinder.names = sys.stdlib_module_names | frozenset(packages)
    sys.meta_path[:] = [_AllowedFinder if finder is PathFinder else finder for finder in sys.meta_path]
