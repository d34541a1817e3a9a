"""Assignment notebooks for Jupyter: statement, a cell to work in, and a cell that checks it, for each item.

The format is nbformat 4.5. nbgrader's metadata (schema 3) let an nbgrader course release the same file.
Hand-ins are read by :mod:`engine.intake.assignment_notebook`, which knows the cells by our own metadata.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.answers import blank_hint
from engine.code.source import tree_or_none
from engine.errors import UsageError
from engine.export.jupyter_text import statement_markdown, words_markdown
from engine.intake.assignment_cells import (
    BLANK_ANSWER,
    CHECK_IMPORT,
    METADATA,
    answer_name,
    name_of,
    question_digest,
    question_seal,
    text_digest,
)
from engine.items import ProblemSpec
from engine.model import Variant
from engine.text.words import plain_points

# nbgrader keeps what is outside these lines, and puts a text of its own between them.
_BEGIN: Final = "# BEGIN SOLUTION: your code goes between these two lines"
_END: Final = "# END SOLUTION"
_NBGRADER_STUB: Final = "# YOUR CODE HERE\nraise NotImplementedError()"
_NBGRADER_SCHEMA: Final = 3
_WIDTH: Final = 100
# Of the format's 64 characters, the role takes ten.
_LONGEST_ITEM: Final = 50
_HOW_TO: Final = """\
Work in the cell below each question, and leave the name that it defines as it is. Run it, then run the \
check cell below it, which says at once what is right and records nothing. You may add cells of your own.

Before you hand in, choose *Kernel → Restart Kernel and Run All Cells*, and save."""


@dataclass(frozen=True, slots=True)
class NotebookItem:
    """An item of an assignment.

    Parameters
    ----------
    spec : ProblemSpec
    variant : Variant
        Drawn with `seed`.
    registry : mapping of str to str
        Feedback sentence by misconception.
    seed : int
    starter : str
        Source to begin with, of a code exercise.
    """

    spec: ProblemSpec
    variant: Variant
    registry: Any
    seed: int = 0
    starter: str = ""

    @property
    def is_code(self) -> bool:
        """Whether a function is to be written."""
        return self.spec.kind == "code"


def assignment_notebook(items: Sequence[NotebookItem], title: str, *, secret: bytes | None = None) -> str:
    """Return the notebook of an assignment as text: the same for the same items.

    Parameters
    ----------
    items : sequence of NotebookItem
        Each item once.
    title : str
    secret : bytes or None
        Of the course whose questions these are: what comes back is known by it. None in practice.

    Raises
    ------
    UsageError
        An item is named twice.
    """
    names = [item.spec.id for item in items]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{twice} is named twice", expected="each item once")
    # A heading is one line.
    heading = words_markdown(" ".join(title.split())) or "Assignment"
    cells = [_cell("title", "markdown", f"# {heading}\n\n{_HOW_TO}", {"editable": False})]
    for number, item in enumerate(items, start=1):
        cells += _cells_of(item, number)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {
        "kernelspec": kernel,
        "language_info": {"name": "python"},
        METADATA: {"items": [_entry(item, secret) for item in items]},
    }
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _entry(item: NotebookItem, secret: bytes | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"item": item.spec.id, "kind": "code" if item.is_code else "answer"}
    if item.is_code:
        return entry
    question = question_digest(item.variant)
    entry |= {"seed": item.seed, "question": question}
    if secret is not None:
        entry["seal"] = question_seal(secret, item.spec.id, item.seed, question)
    return entry


def _cells_of(item: NotebookItem, number: int) -> list[dict[str, Any]]:
    spec, variant = item.spec, item.variant
    text = statement_markdown(spec, variant, item.registry, seed=item.seed, number=number)
    # Locked: nbgrader puts back what a student changed in it.
    statement = _own_cell(item, "statement", "markdown", text, locked=True)
    points = plain_points(variant.points)
    if item.is_code:
        source = solution_cell(item.starter, name_of(spec.id))
        work = _own_cell(item, "solution", "code", source, solution=True)
    elif [part.type for part in variant.parts] == ["free_text"]:
        # A person marks it: nbgrader calls this a manually graded answer, which has no check.
        return [
            statement,
            _own_cell(item, "answer", "markdown", BLANK_ANSWER, solution=True, grade=True, points=points),
        ]
    else:
        # nbgrader would empty a solution cell to its own stub: with no flag this one stays as it is.
        work = _own_cell(item, "answer", "code", _answer_cell(item))
    check = _own_cell(item, "check", "code", _check_cell(item), locked=True, grade=True, points=points)
    return [statement, work, check]


def solution_cell(starter: str, function: str) -> str:
    """Return a starter with two comment lines around what is to be replaced.

    nbgrader releases a solution cell with everything but what is between them. Where the function doesn't end
    in ``raise NotImplementedError`` or its like, they stand at the end with nothing between them.
    """
    starter = starter.strip("\n")
    tree = tree_or_none(starter)
    definitions = [node for node in (tree.body if tree else ()) if getattr(node, "name", None) == function]
    lines = starter.split("\n")
    body = getattr(definitions[-1], "body", []) if definitions else []
    if not body or not _is_stub(body[-1]) or body[-1].lineno == definitions[-1].lineno:
        return "\n".join((*lines, "", _BEGIN, _END))
    stub = body[-1]
    indent = " " * stub.col_offset
    first, last = stub.lineno - 1, stub.end_lineno or stub.lineno
    return "\n".join((*lines[:first], indent + _BEGIN, *lines[first:last], indent + _END, *lines[last:]))


def _is_stub(node: ast.stmt) -> bool:
    is_ellipsis = (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...
    )
    return isinstance(node, ast.Raise | ast.Pass) or is_ellipsis


def _answer_cell(item: NotebookItem) -> str:
    name, parts = answer_name(item.spec.id), item.variant.parts
    hints = [blank_hint(part) for part in parts]
    if len(parts) == 1:
        return f'{_comment(f"Write your answer between the quotes: {hints[0]}.")}\n{name} = ""'
    entries = [
        f'{_comment(hint, "    ")}\n    "{part.id}": "",' for part, hint in zip(parts, hints, strict=True)
    ]
    return "\n".join(("# Write each answer between its quotes.", f"{name} = {{", *entries, "}"))


def _comment(text: str, indent: str = "") -> str:
    # As wide as a cell is on most screens.
    sign = f"{indent}# "
    return textwrap.fill(text, _WIDTH, initial_indent=sign, subsequent_indent=sign, break_on_hyphens=False)


def _check_cell(item: NotebookItem) -> str:
    what = "solution" if item.is_code else "answer"
    more = "" if item.is_code else f', seed={item.seed}, question="{question_digest(item.variant)}"'
    return (
        f"# Run your {what} cell, then this one. No module engine? Install Softmark for this kernel.\n"
        f"{CHECK_IMPORT}\n\n"
        f'check("{item.spec.id}"{more})'
    )


def _own_cell(
    item: NotebookItem,
    role: str,
    kind: str,
    source: str,
    *,
    solution: bool = False,
    grade: bool = False,
    locked: bool = False,
    points: float | None = None,
) -> dict[str, Any]:
    name = cell_id(item.spec.id, role)
    nbgrader: dict[str, Any] = {
        "grade": grade,
        "grade_id": name,
        "locked": locked,
        "schema_version": _NBGRADER_SCHEMA,
        "solution": solution,
        "task": False,
    }
    if points is not None:
        nbgrader["points"] = points
    # By these, intake knows an untouched cell: as we wrote it, and as nbgrader hands it out.
    originals = list(dict.fromkeys(text_digest(text) for text in (source, _as_released(source, solution))))
    ours = {"item": item.spec.id, "original": originals, "role": role}
    more = {"deletable": False, "editable": False} if locked else {"deletable": False}
    return _cell(name, kind, source, {**more, METADATA: ours, "nbgrader": nbgrader})


def cell_id(item: str, role: str) -> str:
    """Return the id of a cell, which is nbgrader's ``grade_id`` too."""
    if len(item) > _LONGEST_ITEM:
        item = f"{item[: _LONGEST_ITEM - 9]}-{hashlib.sha256(item.encode()).hexdigest()[:8]}"
    return f"{item}-{role}"


def _as_released(source: str, solution: bool) -> str:
    """Return a solution cell as nbgrader hands it out: unchanged means as one of the two."""
    if not solution or _BEGIN not in source:
        return source
    stub = _NBGRADER_STUB.split("\n")
    pattern = rf"^([ ]*){re.escape(_BEGIN)}\n(?:.*\n)*?[ ]*{re.escape(_END)}$"
    return re.sub(pattern, lambda m: "\n".join(m[1] + line for line in stub), source, flags=re.MULTILINE)


def _cell(name: str, kind: str, source: str, metadata: dict[str, Any]) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": metadata}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell | {"source": source.splitlines(keepends=True)}
