"""What a submission's source shows before it runs: syntax, library, whether the function is there.

The source is parsed, never compiled or executed.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from engine.code.reading.forbidden import first_forbidden
from engine.code.reading.signatures import (
    Definition,
    Function,
    Passing,
    definition_fault,
    passing,
    signature_of,
)
from engine.foreign import clean_line
from engine.python_source import MAX_CHARACTERS, parse_python

__all__ = ["SourceFacts", "examine_source", "function_names", "library_of", "names_from"]


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What the source shows.

    Parameters
    ----------
    library : {"numpy", "torch"}
        Which arrays the function gets: torch if the file imports torch anywhere, else numpy.
    unreadable : str or None
        One sentence if this is no Python at all.
    fault : str or None
        One sentence if the function is certainly missing or can't take the arguments.
    hint : str or None
        Names that look like the function's.
    forbidden : str or None
        One sentence about the first forbidden call, if there is one.
    passing : Passing
        How the function takes the arguments.
    """

    library: str
    unreadable: str | None = None
    fault: str | None = None
    hint: str | None = None
    forbidden: str | None = None
    passing: Passing = field(default_factory=Passing)


def examine_source(
    source: str,
    function: str,
    signature: str,
    *,
    forbidden: tuple[str, ...] = (),
    modules: Mapping[str, str] = MappingProxyType({}),
) -> SourceFacts:
    """Return the facts about one source.

    Parameters
    ----------
    source : str
        Foreign text.
    function, signature : str
        Name of the function and what its definition must look like, for example
        ``"softmax(x, axis=-1)"``.
    forbidden : tuple of str
        Dotted names of calls that may not occur, ``numpy.*`` for all of a module.
    modules : mapping of str to str
        Sources of further modules beside the file, also foreign.
    """
    if len(source) + sum(map(len, modules.values())) > MAX_CHARACTERS:
        return SourceFacts("numpy", unreadable=f"The file has more than {MAX_CHARACTERS} characters.")
    if not source.strip():
        return SourceFacts("numpy", unreadable="The file is empty.")
    try:
        tree = parse_python(source)
    except SyntaxError as error:
        return SourceFacts("numpy", unreadable=_syntax_sentence(error))
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes; nesting without end
        reason = "it holds null bytes" if isinstance(error, ValueError) else "it is nested too deeply"
        return SourceFacts("numpy", unreadable=f"The file isn't Python: {reason}.")
    bindings = _survey(tree)
    others = [tree for tree in map(_tree_or_none, modules.values()) if tree is not None]
    torch = bindings.torch or any(_survey(other).torch for other in others)
    facts = SourceFacts("torch" if torch else "numpy")
    for found in (first_forbidden(each, forbidden) for each in (tree, *others)):
        if found is not None:
            return replace(facts, forbidden=found)
    if not bindings.dynamic:
        module = Definition(bindings.top, bindings.values)
        fault = definition_fault(module.only(function), signature)
        if fault is not None:
            return replace(facts, fault=fault)
        given = signature_of(module, function)
        facts = replace(facts, passing=(given and passing(given, signature)) or Passing())
    hint = bindings.nearest(function)
    if bindings.may_bind(function):
        return replace(facts, hint=hint)
    return replace(facts, fault=f"The file doesn't define {signature}." + (f" {hint}" if hint else ""))


def _tree_or_none(source: str) -> ast.Module | None:
    """Return the tree of a source; what is wrong with it shows when it is loaded."""
    try:
        return parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _syntax_sentence(error: SyntaxError) -> str:
    place = f" in line {error.lineno}" if error.lineno else ""
    sentence = f"Python can't read the file: {clean_line(str(error.msg), 120)}{place}"
    shown = clean_line(error.text or "", 80)
    return f"{sentence}: {shown}" if shown else f"{sentence}."


_DYNAMIC = {"exec", "eval", "globals", "locals", "setattr", "vars"}


@dataclass(slots=True)
class _Bindings:
    """Names that one module binds: at its top level (or by ``global``), and inside functions and classes."""

    torch: bool = False
    dynamic: bool = False
    top: dict[str, list[ast.AST]] = field(default_factory=dict)
    values: dict[str, ast.expr] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)

    def may_bind(self, function: str) -> bool:
        """Return whether the name could exist when the module has been loaded."""
        return self.dynamic or function in self.top

    def nearest(self, function: str) -> str | None:
        """Return a sentence about the function that the student may have meant."""
        if function in self.functions and function not in self.top:
            return f"{function} is defined inside a class or another function; define it at the top level."
        folded = {name.lower().replace("_", ""): name for name in list(self.functions)[:200]}
        wanted = function.lower().replace("_", "")
        close = difflib.get_close_matches(wanted, [name[:60] for name in folded], n=1, cutoff=0.6)
        if close and close[0] in folded:
            return f"It defines {clean_line(folded[close[0]], 60)}: rename that if it is the one."
        if len(self.functions) == 1:
            return f"It defines {clean_line(next(iter(self.functions)), 60)}."
        return None


_TELLING = {
    ast.Assign,
    ast.AnnAssign,
    ast.Name,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Global,
    ast.Import,
    ast.ImportFrom,
}


def _survey(tree: ast.Module) -> _Bindings:
    """Walk the tree once, without recursion."""
    found = _Bindings()
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, nested = waiting.pop()
        if type(node) in _TELLING:
            _note(found, node, nested)
        inner = nested or isinstance(node, Function | ast.ClassDef | ast.Lambda)
        waiting += [(child, inner) for child in ast.iter_child_nodes(node)]
    return found


def _note(found: _Bindings, node: ast.AST, nested: bool) -> None:
    if isinstance(node, ast.Name) and node.id in _DYNAMIC:
        found.dynamic = True
    if isinstance(node, ast.Assign | ast.AnnAssign) and not nested and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        found.values.update({one.id: node.value for one in targets if isinstance(one, ast.Name)})
    if isinstance(node, Function):
        found.functions.setdefault(node.name, node)
    if isinstance(node, ast.Global):
        for name in node.names:
            found.top.setdefault(name, []).append(node)
    for name in _names_bound(node):
        found.dynamic = found.dynamic or name == "*"
        if not nested:
            found.top.setdefault(name, []).append(node)
    found.torch = found.torch or _imports_torch(node)


def _imports_torch(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(_is_torch(alias.name) for alias in node.names)
    return isinstance(node, ast.ImportFrom) and node.level == 0 and _is_torch(node.module or "")


def _is_torch(module: str) -> bool:
    return module.partition(".")[0] == "torch"


def _names_bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, Function | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]


def library_of(source: str) -> str:
    """Return which arrays a source works with: ``"torch"`` if it is Python and imports torch."""
    tree = _tree_or_none(source)
    return "torch" if tree is not None and _survey(tree).torch else "numpy"


def names_from(packages: Collection[str], sources: Iterable[str]) -> frozenset[str]:
    """Return the names that imports from these top-level packages bind; ``"*"`` for all of one."""
    found: set[str] = set()
    for tree in map(_tree_or_none, sources):
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Import):
                parts = [alias for alias in node.names if alias.name.partition(".")[0] in packages]
                found.update(alias.asname or alias.name.partition(".")[0] for alias in parts)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in packages:
                found.update(alias.asname or alias.name for alias in node.names)
    return frozenset(found)


def function_names(source: str, function: str) -> tuple[str, ...]:
    """Return the top-level functions called `function` or ``function_…``, in their order."""
    defined = [node.name for node in parse_python(source).body if isinstance(node, ast.FunctionDef)]
    return tuple(name for name in defined if name == function or name.startswith(f"{function}_"))
