"""A notebook that ``grade export notebook`` wrote: which of its cells counts for an item, and what it says.

Each cell says in its metadata what it is for (:mod:`engine.intake.assignment_cells`). Students copy, split,
move and delete cells, and some programs drop metadata; so the cell of an item is known by its metadata first,
and by the name that it defines where the metadata is gone. Nothing is chosen silently: what can be read in
two ways is refused with both places, and what was taken from elsewhere is noted. What a kernel ran
(:mod:`engine.practice.check_cell`) is read by the same rules, with its inputs in place of cells.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.code.source import place_in_cells
from engine.errors import SubmissionError
from engine.intake.assignment_cells import (
    BLANK_ANSWER,
    METADATA,
    AssignedItem,
    AssignmentCell,
    answer_name,
    assigned_item,
    assignment_cells,
    name_of,
)
from engine.intake.needed_code import names_bound, needed_code
from engine.intake.notebook import NotebookCell, check_syntax, read_cells
from engine.text.words import clean_line

_BLANKS: Final = (BLANK_ANSWER, "YOUR ANSWER HERE")
_MOST_ITEMS = 200
_COPY_BACK = "copy the cell from the notebook as it was handed out, put your work into it, and hand in again"


@dataclass(frozen=True, slots=True)
class TakenCode:
    """The program for one exercise, and what the student should know about how it was taken."""

    source: str
    notes: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """The same for the same code, whatever cells lie around it."""
        lines = [line.rstrip() for line in self.source.split("\n")]
        return "\n".join(line for line in lines if line and place_in_cells(line, 1) is None)


@dataclass(frozen=True, slots=True)
class TakenAnswer:
    """The answers to one item by part; a lone answer has the part ``""``."""

    texts: Mapping[str, str]
    notes: tuple[str, ...] = ()


class AssignmentNotebook:
    """What students handed in, or ran, in an assignment's notebook.

    Parameters
    ----------
    items : tuple of AssignedItem
    cells : tuple of NotebookCell
    where : str
        Its name, for messages.
    is_history : bool
        Whether the cells are what a kernel ran, in the order in which it did: the check cell wrote it, and it
        has no seals.
    most : int
        Characters of code that are read.
    """

    def __init__(
        self,
        items: tuple[AssignedItem, ...],
        cells: Sequence[NotebookCell],
        where: str,
        *,
        is_history: bool,
        most: int = 2**20,
    ) -> None:
        self.items = items
        self._where = where
        self.is_history = is_history
        self._cells = assignment_cells(cells, where, is_history=is_history, most=most)

    def find(self, item: str) -> AssignedItem | None:
        """Return what the notebook says about an item; None if it isn't in it."""
        return next((assigned for assigned in self.items if assigned.item == item), None)

    def exercise(self, name: str | None) -> str | None:
        """Return the id of the code exercise that is meant by an id or function; of None the only one."""
        ids = [assigned.item for assigned in self.items if assigned.is_code]
        if name is None:
            return ids[0] if len(ids) == 1 else None
        return next((item for item in ids if name in (item, name_of(item))), None)

    def code(self, item: str) -> TakenCode:
        """Return the program for a code exercise: its cell, and what this needs of other cells.

        Raises
        ------
        SubmissionError
            No cell or several define the function, one that counts isn't Python, or a helper comes too late.
        """
        name = name_of(item)
        main, notes = self._main_cell(item, name, "solution")
        # Check cells bind names too, which no solution may lean on: they are not in the sandbox.
        trees = [cell.tree if cell.is_code and cell.role != "check" else None for cell in self._cells]
        needed = needed_code(trees, main)
        self._refuse_unread_helper(needed.missing, main)
        if needed.too_late is not None and not self.is_history:
            late, user, first = needed.too_late
            raise SubmissionError(
                f"{self._cells[user].label} needs {clean_line(late, 40)}, "
                f"which only {self._cells[first].label} further down defines",
                where=self._where,
                next_step=f"move {self._cells[first].label} above it, restart the kernel and run all cells",
            )
        source = "".join(
            f"{cell.mark}\n{cell.text if place == main else _only(cell.text, needed.lines[place])}\n"
            for place, cell in enumerate(self._cells)
            if cell.is_code
        )
        return TakenCode(source, (*notes, *self._notes_on_locked(item)))

    def whole_source(self) -> str:
        """Return all code that Python can read, to see what it imports."""
        return "\n".join(cell.text for cell in self._cells if cell.tree is not None)

    def is_untouched(self, item: str) -> bool:
        """Return whether the cell of an exercise is there as it was handed out, and nothing else for it."""
        marked = [cell for cell in self._cells if self._is_of(cell, item, "solution")]
        name = name_of(item)
        elsewhere = any(cell.binds(name) for cell in self._cells if cell not in marked)
        return not elsewhere and not any(cell.was_changed for cell in marked)

    def taken_text(self, item: str) -> str | None:
        """Return one text of all that is handed in for an item; None where it can't be read."""
        assigned = self.find(item)
        try:
            if assigned is not None and assigned.is_code:
                return self.code(item).identity
            return json.dumps([item, dict(self.answers(item).texts)], sort_keys=True)
        except SubmissionError:
            return None

    def answers(self, item: str) -> TakenAnswer:
        """Return the answers to an item; blank where nothing was entered.

        Raises
        ------
        SubmissionError
            Its cell is missing, there are two that differ, or what is in it isn't written out.
        """
        # An answer in words has a text cell; all others are assigned to a name in a code cell.
        texts = [cell for cell in self._cells if not cell.is_code and self._is_of(cell, item, "answer")]
        if texts:
            written = {_without_blank(cell.text): cell for cell in texts}
            written = {text: cell for text, cell in written.items() if text} or {"": texts[0]}
            if len(written) > 1:
                raise self._two_cells(item, "answer", [*written.values()])
            return TakenAnswer({"": next(iter(written))}, self._notes_on_locked(item))
        main, notes = self._main_cell(item, answer_name(item), "answer")
        answers = self._assigned(self._cells[main], answer_name(item))
        return TakenAnswer(answers, (*notes, *self._notes_on_locked(item)))

    def _is_of(self, cell: AssignmentCell, item: str, role: str) -> bool:
        return cell.role == role and cell.item == item

    def _main_cell(self, item: str, name: str, role: str) -> tuple[int, tuple[str, ...]]:
        """Return the place of the cell that counts, and notes on why it is another than expected."""
        places = [place for place, cell in enumerate(self._cells) if cell.is_code and cell.role != "check"]
        if self.is_history:
            return self._last_run(item, name, places), ()
        marked = [place for place in places if self._is_of(self._cells[place], item, role)]
        defining = [place for place in marked if self._cells[place].binds(name)]
        broken = [place for place in marked if self._cells[place].tree is None]
        if defining or broken:
            return self._one_of(item, role, defining + broken), ()
        others = [p for p in places if p not in marked and self._cells[p].binds(name)]
        broken = [p for p in places if p not in marked and self._cells[p].seems_to_bind(name)]
        if broken and not others:
            check_syntax(self._cells[broken[-1]].text, self._cells[broken[-1]].label, self._where)
        # Taken with a note: the work is there, and only its cell isn't where it was.
        gone = f"the {role} cell of {item}"
        if not others:
            raise self._not_defined(item, name, role, marked)
        state = "is missing" if not marked else f"doesn't define {name}"
        label = self._cells[others[-1]].label
        return others[-1], (f"{gone[0].upper()}{gone[1:]} {state}: {name} was taken from {label}.",)

    def _last_run(self, item: str, name: str, places: list[int]) -> int:
        # As in the kernel: what ran last counts. A run that ended in a syntax error is what the student sees.
        runs = [p for p in places if self._cells[p].binds(name) or self._cells[p].seems_to_bind(name)]
        if not runs:
            raise SubmissionError(
                f"this kernel hasn't run a cell that defines {name}",
                where="notebook",
                next_step=f"run the cell of {item} first, then this check cell",
            )
        last = self._cells[runs[-1]]
        check_syntax(
            last.text, last.label, "notebook", "fix that cell, run it, then run this check cell again"
        )
        return runs[-1]

    def _one_of(self, item: str, role: str, places: list[int]) -> int:
        """Return the only cell that was worked in: a copy that says the same or nothing doesn't count."""
        changed = [place for place in places if self._cells[place].was_changed] or places[:1]
        texts = {_gist(self._cells[place]): place for place in reversed(changed)}
        if len(texts) > 1:
            raise self._two_cells(item, role, [self._cells[place] for place in sorted(texts.values())])
        place = next(iter(texts.values()))
        check_syntax(self._cells[place].text, self._cells[place].label, self._where)
        return place

    def _two_cells(self, item: str, role: str, cells: Sequence[AssignmentCell]) -> SubmissionError:
        return SubmissionError(
            f"{' and '.join(cell.label for cell in cells)} are the {role} cell of {item}, and they differ",
            where=self._where,
            expected="one of them: a copy of a cell keeps its mark",
            next_step="delete the one that shouldn't count, and hand in again",
        )

    def _not_defined(self, item: str, name: str, role: str, marked: list[int]) -> SubmissionError:
        if not marked:
            message = f"the {role} cell of {item} is missing, and no other cell defines {name}"
            return SubmissionError(message, where=self._where, next_step=_COPY_BACK)
        cell = self._cells[marked[0]]
        names = sorted(names_bound(cell.tree)) if cell.tree is not None else []
        functions = [
            node.name for node in (cell.tree.body if cell.tree else ()) if isinstance(node, ast.FunctionDef)
        ]
        close = functions[-1:] if role == "solution" else [n for n in names if n.startswith("answer")][-1:]
        return SubmissionError(
            f"the {role} cell of {item} ({cell.label}) doesn't define {name}",
            where=self._where,
            expected=f"def {name}(…)" if role == "solution" else f'{name} = "…"',
            got=clean_line(close[0], 60) if close else "",
            next_step=f"name it {name} again" if close else f"define {name} in it",
        )

    def _refuse_unread_helper(self, missing: frozenset[str], main: int) -> None:
        # A cell that Python can't read is an experiment, unless something is missing that it would define.
        for place, cell in enumerate(self._cells):
            is_read = cell.tree is not None or not cell.is_code or cell.role == "check" or place == main
            if not is_read and any(cell.seems_to_bind(name) for name in missing):
                check_syntax(cell.text, cell.label, self._where)

    def _notes_on_locked(self, item: str) -> tuple[str, ...]:
        """Say what became of cells that nobody should have touched; nothing depends on them."""
        if self.is_history:
            return ()
        effect = {
            "statement": "the question counts as it was handed out",
            "check": "it isn't read when the notebook is handed in",
        }
        return tuple(
            f"The {role} cell of {item} was changed ({cell.label}): {effect[role]}."
            for role in ("statement", "check")
            for cell in self._cells
            if self._is_of(cell, item, role) and cell.was_changed
        )

    def _assigned(self, cell: AssignmentCell, name: str) -> dict[str, str]:
        assert cell.tree is not None  # it binds the name
        value = next(
            (v for node in reversed(cell.tree.body) if (v := _value_given(node, name)) is not None), None
        )
        if isinstance(value, ast.Dict):
            keys = [k.value if isinstance(k, ast.Constant) else None for k in value.keys]
            if all(isinstance(key, str) for key in keys):
                pairs = zip(keys, value.values, strict=True)
                return {str(key): self._written_out(cell, name, entry) for key, entry in pairs}
        return {"": self._written_out(cell, name, value)}

    def _written_out(self, cell: AssignmentCell, name: str, value: ast.expr | None) -> str:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
        if isinstance(value, ast.Constant) and value.value is None:
            return ""
        # Nothing that would have to be run: a name, a call or a comprehension is none of these.
        literal = (
            ast.Constant, ast.Tuple, ast.List, ast.UnaryOp, ast.USub, ast.UAdd, ast.BinOp, ast.Div, ast.Load
        )  # fmt: skip
        if value is not None and all(isinstance(node, literal) for node in ast.walk(value)):
            text = ast.get_source_segment(cell.text, value) or ""
            return (
                " ".join(text.strip("()").split()) if isinstance(value, ast.Tuple) else " ".join(text.split())
            )
        raise SubmissionError(
            f"{name} isn't written out in {cell.label}",
            where=self._where,
            expected=f'the answer between quotes, such as {name} = "0.5, 0.5"',
            got=clean_line(ast.unparse(value), 60) if value is not None else "nothing",
            next_step="write the result itself: the code of an answer cell isn't run when it is handed in",
        )


def read_assignment(text: str, where: str, most: int = 2**20) -> AssignmentNotebook | None:
    """Read a notebook; None if it isn't one of an assignment.

    Parameters
    ----------
    text : str
        Of the file: foreign.
    where : str
        Its name, for messages.
    most : int
        Characters of code that are read.

    Raises
    ------
    SubmissionError
        It isn't a notebook of Python, a cell is damaged, or it is too large.
    """
    # Most notebooks aren't: they needn't be read twice.
    if f'"{METADATA}"' not in text:
        return None
    metadata, cells = read_cells(text, where)
    ours = metadata.get(METADATA)
    entries = ours.get("items") if isinstance(ours, dict) else None
    if not isinstance(entries, list):
        return None
    assigned = [assigned_item(entry) for entry in entries[:_MOST_ITEMS]]
    items = {entry.item: entry for entry in reversed(assigned) if entry is not None}
    is_history = isinstance(ours, dict) and ours.get("history") is True
    if not items:
        return None
    # In the order of the notebook; of an item that is named twice the first entry counts.
    ordered = tuple(sorted(items.values(), key=lambda entry: assigned.index(entry)))
    return AssignmentNotebook(ordered, cells, where, is_history=is_history, most=most)


def _only(text: str, lines: set[int]) -> str:
    """Return a cell with blank lines in place of those that aren't needed, so that line numbers stay."""
    return "\n".join(line if number in lines else "" for number, line in enumerate(text.split("\n")))


def _gist(cell: AssignmentCell) -> str:
    # Comments and blanks make no difference between two copies of a cell.
    return cell.text.strip() if cell.tree is None else ast.dump(cell.tree)


def _without_blank(text: str) -> str:
    for blank in _BLANKS:
        text = text.replace(blank, "")
    return text.strip()


def _value_given(node: ast.stmt, name: str) -> ast.expr | None:
    targets: Sequence[ast.expr] = node.targets if isinstance(node, ast.Assign) else ()
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    is_it: Callable[[ast.expr], bool] = lambda target: isinstance(target, ast.Name) and target.id == name  # noqa: E731
    return getattr(node, "value", None) if any(map(is_it, targets)) else None
