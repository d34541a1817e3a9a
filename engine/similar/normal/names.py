"""Which names of a file are the student's own, and what the others mean whatever they are called here."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Names", "names_of"]

_BUILTINS = frozenset(dir(builtins))
# what these stand for where the line that says it can't be read
_USUAL = {"np": "numpy", "torch": "torch", "math": "math"}


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one file.

    Parameters
    ----------
    imported : mapping of str to str
        Name in this file → full name in its library (``np`` → ``numpy``, ``exp`` → ``math.exp``).
    own : frozenset of str
        Functions, classes, arguments and variables of the file.
    own_attributes : frozenset of str
        Attributes and methods that the file itself makes.
    """

    imported: Mapping[str, str]
    own: frozenset[str]
    own_attributes: frozenset[str]

    def library(self, name: str) -> str | None:
        """Return what a name that isn't the student's own means; None for their own."""
        if name in self.own:
            return None
        if name in self.imported:
            return self.imported[name]
        return name if name in _BUILTINS else None


def names_of(tree: ast.AST) -> Names:
    """Return the names of a file; a name that is both imported and assigned is the student's own."""
    imported = dict(_USUAL)
    own: set[str] = set()
    attributes: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= dict(_imports(node))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
            if isinstance(node, ast.ClassDef):
                attributes |= set(_methods(node))
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            own.add(node.id)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            attributes.add(node.attr)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            own.add(node.name)
    return Names(imported, frozenset(own), frozenset(attributes))


def _methods(node: ast.ClassDef) -> Iterator[str]:
    for inner in node.body:
        # `forward` and `__call__` are the library's names, whoever defines them
        if isinstance(inner, ast.FunctionDef) and inner.name != "forward" and not inner.name.startswith("__"):
            yield inner.name


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    module = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module else ""
    for alias in node.names:
        whole = module + alias.name
        if alias.asname:
            yield alias.asname, whole
        elif module:
            yield alias.name, whole
        else:  # `import a.b` binds `a`
            top = alias.name.partition(".")[0]
            yield top, top
