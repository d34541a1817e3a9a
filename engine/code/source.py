"""Foreign Python text, parsed and never run: its syntax tree, the names it binds, a notebook's cells."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

# Of all files of one submission. A solution has a few thousand; what is far longer holds data or a library,
# and parsing it takes time and memory in the grader's own process.
MAX_CHARACTERS = 256 * 1024

Function = ast.FunctionDef | ast.AsyncFunctionDef

_parsing = threading.Lock()  # warning filters belong to the whole process, not to a thread
_MARK = re.compile(r"# --- code cell (\d+) ---")


def parse_python(source: str) -> ast.Module:
    """Return the syntax tree without the parser's warnings: an odd escape is the student's business.

    Raises
    ------
    SyntaxError
    ValueError, RecursionError, MemoryError
        Null bytes; nesting without end.
    """
    with _parsing, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements that bind names of the module: those in ``if``, ``try`` and loops too."""
    waiting: list[ast.AST] = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            waiting += reversed(list(ast.iter_child_nodes(node)))


def cell_mark(number: int) -> str:
    """Return the comment line before the code cell of this number (from 1) in a notebook's source."""
    return f"# --- code cell {number} ---"


def place_in_cells(source: str, line: int) -> tuple[int, int] | None:
    """Return (code cell, line within it), both from 1, of a line of a notebook's source.

    None: the source has no such line, or no cell begins before it.
    """
    lines = source.split("\n")
    if not 0 < line <= len(lines):
        return None
    for begin in range(line - 1, -1, -1):
        if match := _MARK.fullmatch(lines[begin]):
            return int(match.group(1)), max(1, line - 1 - begin)
    return None


@dataclass(slots=True)
class ModuleBindings:
    """Names that one module binds: at its top level (or by ``global``), and inside functions and classes.

    Parameters
    ----------
    torch : bool
        Whether the module imports torch anywhere.
    dynamic : bool
        Whether it may bind names in ways that its source doesn't show.
    top : dict of str to list of nodes
        What binds each name at the top level.
    values : dict of str to expression
        What is assigned to it, where a plain assignment is what binds it.
    functions : dict of str to node
        The first function of each name, wherever it stands.
    """

    torch: bool = False
    dynamic: bool = False
    top: dict[str, list[ast.AST]] = field(default_factory=dict)
    values: dict[str, ast.expr] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)

    def definition(self, name: str) -> ast.AST | None:
        """Return the one thing that a name stands for; of several functions the last."""
        nodes = self.top.get(name, [])
        if len(nodes) > 1 and all(isinstance(node, Function) for node in nodes):
            return max(nodes, key=lambda node: getattr(node, "lineno", 0))
        return self.values.get(name, nodes[0]) if len(nodes) == 1 else None


# builtins by which names come into being that no statement shows
_DYNAMIC = {"exec", "eval", "globals", "locals", "setattr", "vars"}
_BINDING_NODES = {
    ast.Assign, ast.AnnAssign, ast.Name, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Global,
    ast.Import, ast.ImportFrom,
}  # fmt: skip


def survey_bindings(tree: ast.Module) -> ModuleBindings:
    """Return what a module binds."""
    bindings = ModuleBindings()  # the tree may be nested deeper than Python may recurse
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, nested = waiting.pop()
        if type(node) in _BINDING_NODES:
            _note(bindings, node, nested)
        inner = nested or isinstance(node, Function | ast.ClassDef | ast.Lambda)
        waiting += [(child, inner) for child in ast.iter_child_nodes(node)]
    return bindings


def _note(bindings: ModuleBindings, node: ast.AST, nested: bool) -> None:
    if isinstance(node, ast.Name) and node.id in _DYNAMIC:
        bindings.dynamic = True
    if isinstance(node, ast.Assign | ast.AnnAssign) and not nested and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        bindings.values.update({target.id: node.value for target in targets if isinstance(target, ast.Name)})
    if isinstance(node, Function):
        bindings.functions.setdefault(node.name, node)
    if isinstance(node, ast.Global):
        for name in node.names:
            bindings.top.setdefault(name, []).append(node)
    for name in _names_bound(node):
        bindings.dynamic = bindings.dynamic or name == "*"
        if not nested:
            bindings.top.setdefault(name, []).append(node)
    bindings.torch = bindings.torch or _imports_torch(node)


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


def tree_or_none(source: str) -> ast.Module | None:
    """Return the tree of a source; what is wrong with it shows when it is loaded."""
    try:
        return parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def library_of(source: str) -> str:
    """Return which arrays a source works with: ``"torch"`` if it is Python and imports torch."""
    tree = tree_or_none(source)
    return "torch" if tree is not None and survey_bindings(tree).torch else "numpy"


def names_from(packages: Collection[str], sources: Iterable[str]) -> frozenset[str]:
    """Return the names that imports from these top-level packages bind; ``"*"`` for all of one."""
    names: set[str] = set()
    for tree in map(tree_or_none, sources):
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Import):
                aliases = [alias for alias in node.names if alias.name.partition(".")[0] in packages]
                names.update(alias.asname or alias.name.partition(".")[0] for alias in aliases)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in packages:
                names.update(alias.asname or alias.name for alias in node.names)
    return frozenset(names)


def function_names(source: str, function: str) -> tuple[str, ...]:
    """Return the top-level functions called `function` or ``function_…``, in their order."""
    defined = [node.name for node in parse_python(source).body if isinstance(node, ast.FunctionDef)]
    return tuple(name for name in defined if name == function or name.startswith(f"{function}_"))
