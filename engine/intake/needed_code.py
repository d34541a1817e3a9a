"""The statements of a notebook that one function needs: imports, helpers and constants, but no experiments.

A notebook holds the work on several exercises, tests and plots. The cell that defines the function is taken
as it is; of the others only statements that bind a name which is needed, by itself or through other names.
Nothing is run: what counts are the names in the source.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_BUILTIN = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}
_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom


@dataclass(frozen=True, slots=True)
class CellStatement:
    """A statement at the top level of a cell, with the names that it binds and uses.

    Parameters
    ----------
    cell : int
        Place of its cell.
    lines : range
        Of the cell, from 0.
    binds, uses : frozenset of str
    uses_now : frozenset of str
        Those of the used names that must have a value when the statement is run, not first when a function
        is called.
    is_definition : bool
        A function, class or import: a later one of the same name takes its place.
    """

    cell: int
    lines: range
    binds: frozenset[str]
    uses: frozenset[str]
    uses_now: frozenset[str]
    is_definition: bool


@dataclass(frozen=True, slots=True)
class NeededCode:
    """What was taken.

    Parameters
    ----------
    lines : list of set of int
        For each cell the lines that are taken, from 0.
    missing : frozenset of str
        Names that no cell binds: Python's own are not among them.
    too_late : tuple of (str, int, int), or None
        A name, the cell that needs its value at once, and the cell below it that first binds the name.
    """

    lines: list[set[int]] = field(default_factory=list)
    missing: frozenset[str] = frozenset()
    too_late: tuple[str, int, int] | None = None


def names_bound(tree: ast.Module) -> frozenset[str]:
    """Return the names that the top level of a cell binds."""
    return frozenset(name for statement in tree.body for name in _bound(statement))


def needed_code(trees: Sequence[ast.Module | None], main: int) -> NeededCode:
    """Return what the cell `main` needs of all cells.

    Parameters
    ----------
    trees : sequence of Module or None
        The cells in their order; None for one that isn't looked at.
    main : int
        Place of the cell that counts. The names that it binds are never taken from others.
    """
    statements = [
        _statement(place, node) for place, tree in enumerate(trees) if tree is not None for node in tree.body
    ]
    main_part = [statement for statement in statements if statement.cell == main]
    bound_here = frozenset[str]().union(*(statement.binds for statement in main_part))
    # All that the cell uses: which of it the function needs at last, only running it could say.
    needs = frozenset[str]().union(*(statement.uses for statement in main_part)) - bound_here
    others = [statement for statement in statements if statement.cell != main]
    chosen: list[CellStatement] = []
    # Until nothing is added: what a helper needs is needed too.
    while True:
        added = [s for s in others if s not in chosen and (s.binds & needs or "*" in s.binds)]
        if not added:
            break
        chosen += added
        needs = needs.union(*(statement.uses for statement in added)) - bound_here
    chosen = _without_replaced([statement for statement in statements if statement in chosen], needs)
    lines: list[set[int]] = [set() for _ in trees]
    for statement in (*main_part, *chosen):
        lines[statement.cell].update(statement.lines)
    bound = bound_here.union(*(statement.binds for statement in chosen))
    # What a star import brings isn't known without running it.
    missing = frozenset() if "*" in bound else needs - bound - _BUILTIN
    remaining = [statement for statement in statements if statement in chosen or statement.cell == main]
    return NeededCode(lines, missing, _too_late(remaining))


def _without_replaced(chosen: list[CellStatement], needs: frozenset[str]) -> list[CellStatement]:
    """Leave out a definition that a later one replaces: in a kernel's history each run of a cell is one."""
    last: dict[str, int] = {}
    for place, statement in enumerate(chosen):
        if statement.is_definition:
            last.update(dict.fromkeys(statement.binds & needs, place))
    return [
        statement
        for place, statement in enumerate(chosen)
        if not statement.is_definition
        or any(last.get(name) == place for name in statement.binds)
        or "*" in statement.binds
        # What comes between may need the earlier one: f = cached(f).
        or any(statement.binds & other.uses_now for other in chosen[place + 1 :])
    ]


def _too_late(remaining: list[CellStatement]) -> tuple[str, int, int] | None:
    first: dict[str, int] = {}
    for place, statement in enumerate(remaining):
        for name in statement.binds:
            first.setdefault(name, place)
    if "*" in first:
        return None
    for place, statement in enumerate(remaining):
        for name in sorted(statement.uses_now):
            # Within one cell Python itself says it best, and experiments there may fail.
            if (
                first.get(name, place) > place
                and statement.binds
                and remaining[first[name]].cell != statement.cell
            ):
                return name, statement.cell, remaining[first[name]].cell
    return None


def _statement(cell: int, node: ast.stmt) -> CellStatement:
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    names = {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
    return CellStatement(
        cell,
        range(start - 1, (node.end_lineno or node.lineno)),
        frozenset(_bound(node)),
        frozenset(names),
        frozenset(_used_now(node)),
        isinstance(node, _DEFINITIONS),
    )


def _bound(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement gives a value to, or changes: ``W[0] = 1`` changes W."""
    waiting: list[ast.AST] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield part.name
            continue
        if isinstance(part, ast.Import | ast.ImportFrom):
            for alias in part.names:
                yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store):
            base: ast.AST = part
            while isinstance(base, ast.Attribute | ast.Subscript):
                base = base.value
            if isinstance(base, ast.Name):
                yield base.id
        elif isinstance(part, ast.ExceptHandler) and part.name:
            yield part.name
        # The variables of a comprehension are its own.
        if not isinstance(part, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting += ast.iter_child_nodes(part)


def _used_now(node: ast.stmt) -> Iterator[str]:
    """Yield the names whose values a statement needs when it is run: not those in bodies of functions."""
    waiting: list[ast.AST] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += [*part.decorator_list, *part.args.defaults]
            waiting += [default for default in part.args.kw_defaults if default is not None]
            continue
        if isinstance(part, ast.Lambda | ast.comprehension):
            continue
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            yield part.id
        waiting += ast.iter_child_nodes(part)
