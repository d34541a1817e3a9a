"""Calls that an exercise forbids, looked for in the source.

This finds what an honest student writes, under whatever name it was imported.  It is no security
measure: ``getattr`` with a computed name, or a copy of the library's code, gets past it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.foreign import clean_line

__all__ = ["first_forbidden"]


def first_forbidden(tree: ast.Module, forbidden: tuple[str, ...]) -> str | None:
    """Return one sentence about the first use of a forbidden name, None if there is none.

    Parameters
    ----------
    tree : ast.Module
    forbidden : tuple of str
        Dotted names such as ``torch.nn.functional.softmax``; ``numpy.linalg.*`` means all below; a name
        without a dot is a builtin, and one that starts with a dot a method (``.softmax``).
    """
    if not forbidden:
        return None
    names = _imported(tree)
    uses = sorted(_uses(tree, names), key=lambda use: (use[0], use[1]))
    for line, used in uses:
        rule = next((rule for rule in forbidden if _falls_under(used, rule)), None)
        if rule is not None:
            return f"Line {line} uses {clean_line(used, 80)}, which this exercise asks you to do without."
    return None


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return what each imported name stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _uses(tree: ast.Module, names: dict[str, str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.lineno, f".{node.attr}"
            dotted = _dotted(node)
            if dotted is not None:
                head, _, rest = dotted.partition(".")
                yield node.lineno, f"{names.get(head, head)}.{rest}"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.lineno, names.get(node.id, node.id)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def _dotted(node: ast.expr) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _falls_under(used: str, rule: str) -> bool:
    if rule.endswith(".*"):
        return used.startswith(rule[:-1])
    return used == rule
