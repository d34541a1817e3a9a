"""The cells of an assignment's notebook: what ``grade export notebook`` writes about them, and reads back.

Each cell says in its metadata what it is for, and each question has a digest, and in a course a seal. What
comes back is foreign: it is checked here piece by piece, and a cell whose metadata makes no sense is one of
the student's own. Which cell counts for an item is decided in :mod:`engine.intake.assignment_notebook`.
"""

from __future__ import annotations

import ast
import hashlib
import hmac
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.code.source import cell_mark, tree_or_none
from engine.intake.needed_code import names_bound
from engine.intake.notebook import NotebookCell, check_size, python_of
from engine.model import Variant

METADATA: Final = "softmark"
"""The key of our metadata, of a notebook and of a cell."""
CHECK_IMPORT: Final = "from engine.practice.check_cell import check"
"""The line by which a check is known where metadata is gone."""
BLANK_ANSWER: Final = "*Write your answer here, in place of this line.*"
"""What stands in a cell for an answer in words; nbgrader puts its own text in its place."""

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,98}")
# A check that was merged into the cell above it leaves that cell as it is.
_CHECK_LINE = re.compile(rf"^[ \t]*(?:{re.escape(CHECK_IMPORT)}\b|check\(\").*$", re.MULTILINE)
_DIGEST = re.compile(r"[0-9a-f]{1,64}")
_LARGEST_SEED = 2**63
_ROLES = frozenset({"statement", "solution", "answer", "check"})


@dataclass(frozen=True, slots=True)
class AssignedItem:
    """An item of an assignment, as the notebook says: foreign, until somebody compares it with the bank.

    Parameters
    ----------
    item : str
    is_code : bool
        A code exercise; otherwise an answer to a variant.
    seed : int
        Of the variant.
    question : str
        Digest of what was asked.
    seal : str
        By which a course knows its own questions.
    """

    item: str
    is_code: bool
    seed: int = 0
    question: str = ""
    seal: str = ""

    @property
    def name(self) -> str:
        """The name that its cell defines."""
        return name_of(self.item) if self.is_code else answer_name(self.item)


def name_of(item: str) -> str:
    """Return the name of an exercise's function."""
    return item.replace("-", "_")


def answer_name(item: str) -> str:
    """Return the name to which an answer is assigned."""
    return f"answer_{name_of(item)}"


def text_digest(text: str) -> str:
    """Return a short digest of a cell's text, the blanks around it aside."""
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:16]


def question_digest(variant: Variant) -> str:
    """Return a short digest of what a variant asks: its numbers, the options as shown, the fields.

    Wording and feedback aren't in it: an instructor may correct them while a notebook is out.
    """
    content = [
        variant.item,
        {name: [list(value.shape), list(value.entries)] for name, value in variant.values.items()},
        [
            [
                part.id,
                part.type,
                *([choice.id, choice.text.plain] for choice in (*part.prompts, *part.options)),
            ]
            for part in variant.parts
        ],
    ]
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:16]


def question_seal(secret: bytes, item: str, seed: int, question: str) -> str:
    """Return by what a course knows a question of its own: nobody can choose another variant without it."""
    # "notebook" keeps other uses of the secret apart.
    message = json.dumps(["notebook", item, seed, question]).encode("ascii")
    return hmac.new(secret, message, hashlib.sha256).hexdigest()[:32]


@dataclass(frozen=True)
class AssignmentCell:
    """A cell with what its metadata says it is, where that makes sense.

    Parameters
    ----------
    label : str
        What messages call it: ``code cell 3``.
    mark : str
        The line that stands before its text in a program that is put together of cells.
    text : str
        Python without magics, or the words of a text cell.
    is_code : bool
    role, item : str
        What it is for; empty for a cell of the student's own.
    was_changed : bool
        Whether it differs from what was handed out, by us or by nbgrader.
    tree : ast.Module or None
        None for a text cell, and where Python can't read it.
    """

    label: str
    mark: str
    text: str
    is_code: bool
    role: str
    item: str
    was_changed: bool
    tree: ast.Module | None

    def binds(self, name: str) -> bool:
        """Return whether the cell defines a name."""
        return self.tree is not None and name in names_bound(self.tree)

    def seems_to_bind(self, name: str) -> bool:
        """Return whether a cell that Python can't read is meant to define a name."""
        pattern = rf"^\s*(?:(?:async\s+)?def\s+{re.escape(name)}\b|{re.escape(name)}\s*=)"
        return self.tree is None and re.search(pattern, self.text, re.MULTILINE) is not None


def assigned_item(entry: Any) -> AssignedItem | None:
    """Return what a notebook's metadata says about an item; None where that makes no sense."""
    if not isinstance(entry, dict):
        return None
    item, kind, seed = entry.get("item"), entry.get("kind"), entry.get("seed", 0)
    question, seal = entry.get("question", ""), entry.get("seal", "")
    if not isinstance(item, str) or _ID.fullmatch(item) is None or kind not in ("code", "answer"):
        return None
    # type(): a bool is an int as well.
    if type(seed) is not int or not 0 <= seed < _LARGEST_SEED:
        return None
    digests = [d if isinstance(d, str) and _DIGEST.fullmatch(d) else "" for d in (question, seal)]
    return AssignedItem(item, kind == "code", seed, *digests)


def assignment_cells(
    cells: Sequence[NotebookCell], where: str, *, is_history: bool, most: int
) -> tuple[AssignmentCell, ...]:
    """Return the cells of a notebook with what each is for.

    Parameters
    ----------
    cells : sequence of NotebookCell
    where : str
        Its name, for messages.
    is_history : bool
        Whether the cells are what a kernel ran.
    most : int
        Characters of code that are read.

    Raises
    ------
    SubmissionError
        There is more code than that.
    """
    texts = [python_of(cell.source) if cell.is_code else cell.source for cell in cells]
    check_size([text for cell, text in zip(cells, texts, strict=True) if cell.is_code], where, most)
    result: list[AssignmentCell] = []
    number = 0
    for place, (cell, text) in enumerate(zip(cells, texts, strict=True), start=1):
        number += cell.is_code
        # In a kernel's history the number of a cell is the one that the student sees beside it.
        count = cell.count if is_history and cell.count is not None else number
        mark = cell_mark(count, is_run=is_history)
        label = mark[6:-4] if cell.is_code else f"cell {place}"
        ours = cell.metadata.get(METADATA)
        ours = ours if isinstance(ours, dict) else {}
        role, item, originals = ours.get("role"), ours.get("item"), ours.get("original")
        is_ours = isinstance(role, str) and role in _ROLES and isinstance(item, str)
        if cell.is_code and CHECK_IMPORT in text:
            text = _CHECK_LINE.sub("", text)
        was_changed = not (isinstance(originals, list) and text_digest(cell.source) in originals)
        result.append(
            AssignmentCell(
                label,
                mark,
                text,
                cell.is_code,
                str(role) if is_ours else "",
                str(item) if is_ours else "",
                was_changed,
                tree_or_none(text) if cell.is_code else None,
            )
        )
    return tuple(result)
