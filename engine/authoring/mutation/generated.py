"""All programs that differ from a solution in one place, each once.

What doesn't parse, equals the solution or another program as a tree, or changes only what a raised error
says, isn't among them.
"""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from engine.authoring.mutation.edits import exchanged, header, splice
from engine.authoring.mutation.operators import OPERATORS, EditSite, Replacement
from engine.code.source import library_of, parse_python


@dataclass(frozen=True, slots=True)
class GeneratedMutant:
    """A program that differs from a solution in one place.

    Parameters
    ----------
    id : str
        File without its ending, operator, line and column (both from 1) of what is changed, and a number
        where several changes of that place have one operator: ``solution_numpy:axis:5:18:2``.
    file : str
        The solution that it was made from.
    line : int
        Of that file, from 1.
    before, after : str
        The changed statement as :func:`ast.unparse` writes it, of a loop or branch its first line.
    original, source : str
        The whole solution and the whole program.
    """

    id: str
    file: str
    line: int
    before: str
    after: str
    original: str
    source: str

    def diff(self) -> list[str]:
        """Return the lines that differ, the solution's after ``-`` and the program's after ``+``."""
        lines = difflib.ndiff(self.original.splitlines(), self.source.splitlines())
        return [line.rstrip() for line in lines if line[:2] in ("- ", "+ ")]


def generated_mutants(solutions: Mapping[str, str], function: str) -> list[GeneratedMutant]:
    """Return the programs that the operators make of an exercise's solutions.

    Parameters
    ----------
    solutions : mapping of str to str
        File name to source, which parses.
    function : str
        The graded function.
    """
    mutants: list[GeneratedMutant] = []
    for file, source in solutions.items():
        mutants += _of_file(file, source, function)
    return mutants


def _of_file(file: str, source: str, function: str) -> Iterator[GeneratedMutant]:
    tree = parse_python(source)
    known = {ast.dump(tree)}
    count: Counter[str] = Counter()
    for site, statement in _sites(tree, function, library_of(source) == "torch"):
        for operator in OPERATORS:
            for replacement in operator.replace(site):
                before, after, text, changed = _changed(source, site, statement, replacement)
                if text is None or changed in known:
                    continue
                known.add(changed)
                node = site.node
                name = f"{PurePath(file).stem}:{operator.name}:{node.lineno}:{node.col_offset + 1}"
                count[name] += 1
                number = f":{count[name]}" if count[name] > 1 else ""
                yield GeneratedMutant(name + number, file, node.lineno, before, after, source, text)


def _changed(
    source: str, site: EditSite, statement: ast.stmt, replacement: Replacement
) -> tuple[str, str, str | None, str]:
    """Return the changed statement before and after, the whole text (None: none can be had) and its tree."""
    node, before = site.node, header(statement)
    if isinstance(replacement, ast.expr):
        new = exchanged(statement, node, replacement)
        inner = _unparsed(replacement)
        plain, bracketed = splice(source, node, inner), splice(source, node, f"({inner})")
        dumps = _dump(plain), _dump(bracketed)
        if dumps[0] is not None and dumps[0] == dumps[1]:
            return before, header(new), plain, dumps[0]
        text = bracketed  # what stands around it binds more strongly
        if dumps[1] is None and not hasattr(statement, "body"):
            text = splice(source, statement, ast.unparse(new))  # a slice can't stand in brackets
        after = header(new)
    else:
        # what only comes before the statement leaves its layout as it is, and a branch its body
        whole = ast.get_source_segment(source, node) or ""
        lines = [whole if entry is node else _unparsed(entry) for entry in replacement] or ["pass"]
        after = "; ".join(header(entry) for entry in replacement) or "pass"
        text = splice(source, node, ("\n" + " " * node.col_offset).join(lines))
    dump = _dump(text)
    return before, after, None if dump is None else text, dump or ""


def _dump(text: str) -> str | None:
    try:
        return ast.dump(parse_python(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _unparsed(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node))


def _sites(tree: ast.Module, function: str, torch: bool) -> Iterator[tuple[EditSite, ast.stmt]]:
    """Yield every place that may be changed, with the statement that it belongs to, in the file's order."""
    arrays = _arrays(tree, function)
    for body, names, owner in _bodies(tree, ()):
        bound = list(names)
        for place, statement in enumerate(body):
            at_top = owner == function and place == _docstring(body)
            is_simple = not hasattr(statement, "body")
            if isinstance(statement, ast.Raise | ast.Import | ast.ImportFrom):
                continue  # what an error says is nobody's mistake
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if (is_simple or at_top) and not is_text:
                yield EditSite(statement, tuple(bound), arrays, at_top=at_top, torch=torch), statement
            for node, is_test in _expressions(statement):
                yield EditSite(node, tuple(bound), arrays, is_test, torch=torch), statement
            bound += [name for name in _names_bound(statement) if name not in bound]


def _bodies(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[list[ast.stmt], tuple[str, ...], str]]:
    """Yield each block with the names that are bound when it begins, and the function whose block it is."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if not isinstance(block, list) or not block:
            continue
        inner = list(names)
        if isinstance(node, ast.FunctionDef):
            inner += [argument.arg for argument in _arguments(node) if argument.arg not in inner]
        elif isinstance(node, ast.For):
            inner += [name for name in _names_bound(node) if name not in inner]
        yield block, tuple(inner), node.name if isinstance(node, ast.FunctionDef) else ""
        for statement in block:
            yield from _bodies(statement, tuple(inner))
            if not isinstance(node, ast.Module):  # what a module binds is no stand-in for a value
                inner += [name for name in _names_bound(statement) if name not in inner]


def _arguments(node: ast.FunctionDef) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _names_bound(statement: ast.stmt) -> list[str]:
    """Return the names that a statement assigns to; those of a function's own aren't among them."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return []
    nodes = ast.walk(statement)
    return [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def _docstring(body: list[ast.stmt]) -> int:
    first = body[0]
    return int(isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant))


def _expressions(statement: ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the expressions of a statement, of a loop or branch those of its first line only."""
    tests = {
        id(test)
        for node in ast.walk(statement)
        for test in (getattr(node, "test", None),)
        if test is not None
    }
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.expr):
            yield node, id(node) in tests
        inner = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
        if isinstance(node, ast.arg | ast.ExceptHandler | ast.JoinedStr):
            continue
        if whole := isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            inner = [] if whole else inner  # a sign and its number are one
        waiting += inner


def _arrays(tree: ast.Module, function: str) -> frozenset[str]:
    """Return the parameters of a function that it uses as arrays."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            names = {argument.arg for argument in _arguments(node)}
            return frozenset(
                name for inner in ast.walk(node) for name in _used_as_array(inner) if name in names
            )
    return frozenset()


def _used_as_array(node: ast.AST) -> Iterator[str]:
    operands: list[ast.expr] = []
    if isinstance(node, ast.Attribute):
        operands = [node.value]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        operands = [node.left, node.right]
    yield from (operand.id for operand in operands if isinstance(operand, ast.Name))
