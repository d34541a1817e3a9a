"""Problem files onto the disk: each proved first, under an id that is free, none ever overwritten."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.errors import EngineError, ExchangeError, SpecError
from engine.exchange.question import Skip
from engine.exchange.report import Imported
from engine.exchange.spec_file.naming import candidates
from engine.exchange.spec_file.yaml_text import meant
from engine.exchange.to_spec import Draft
from engine.foreign import clean_line
from engine.lint import lint_item
from engine.spec import load_spec, read_yaml
from engine.spec.bank import Bank

__all__ = ["Prepared", "prepare", "write_all"]

_SEEDS = 2
"""Imported items draw no numbers: a few orders of their options show all that lint looks at."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A problem file that may be written."""

    item: Imported
    text: str


def prepare(
    drafts: Sequence[Draft], folder: Path, bank: Bank, advance: Callable[[], None] = lambda: None
) -> tuple[list[Prepared], list[Skip]]:
    """Give every draft an id, and try it out.

    Parameters
    ----------
    drafts : sequence of Draft
    folder : Path
        Where the files will be.
    bank : Bank
        Ids of its items are taken, and its registry of known mistakes counts.
    advance : callable
        Called after each draft.

    Returns
    -------
    prepared : list of Prepared
        What loads and lints without errors.
    skipped : list of Skip
        What doesn't, and why.
    """
    ids = _Ids(folder, frozenset(bank.ids()))
    prepared: list[Prepared] = []
    skipped: list[Skip] = []
    with TemporaryDirectory() as trial:
        for number, draft in enumerate(drafts, start=1):
            item_id, text, is_new = ids.find(draft, number)
            fault = _fault_of(draft, Path(trial) / f"{item_id}.yaml", text, bank)
            advance()
            question = draft.question
            if fault is not None:
                reason = f"our check refuses it: {fault}"
                step = "change it in its system, or write the item by hand"
                skipped.append(Skip(question.name, question.type, question.place, reason, step))
                continue
            ids.given.add(item_id)
            item = Imported(
                item_id,
                folder / f"{item_id}.yaml",
                draft.data["answer"]["type"],
                question.name or draft.data["title"],
                question.place.line,
                tuple(draft.notes),
                tuple(draft.by_hand),
                is_new,
            )
            prepared.append(Prepared(item, text))
    return prepared, skipped


class _Ids:
    """Which ids are taken: by the bank, by files of the folder, and by this import itself."""

    def __init__(self, folder: Path, bank: frozenset[str]) -> None:
        self._folder = folder
        self._bank = bank
        self.given: set[str] = set()

    def find(self, draft: Draft, number: int) -> tuple[str, str, bool]:
        """Return an id, the file's text, and whether it is new.

        A file that is there with the very same text counts as this question, so importing twice adds nothing.
        """
        for item_id in candidates(draft.question.name or draft.data["title"], number):
            if item_id in self.given:
                continue
            path, text = self._folder / f"{item_id}.yaml", draft.text(item_id)
            if path.exists() or path.is_symlink():
                if _holds(path, text):
                    return item_id, text, False
            elif item_id not in self._bank:
                return item_id, text, True
        raise EngineError("no id is free", where=str(self._folder))


def _holds(path: Path, text: str) -> bool:
    try:
        return path.is_file() and path.read_bytes() == text.encode("utf-8")
    except OSError:
        return False


def _fault_of(draft: Draft, path: Path, text: str, bank: Bank) -> str | None:
    """Return why an item can't be used, None if it loads and lints without errors."""
    path.write_bytes(text.encode("utf-8"))
    try:
        data = read_yaml(path).data
        if data != meant(draft.content(path.stem)):
            raise EngineError(
                "a problem file doesn't hold what it should", where=path.name, next_step="report the question"
            )
        spec = load_spec(path, registry=bank.registry())
    except SpecError as problem:
        return clean_line(problem.what, 300)
    errors = lint_item(spec, path, bank, seeds=_SEEDS).errors
    return clean_line(errors[0].message, 300) if errors else None


def write_all(prepared: Sequence[Prepared], folder: Path) -> None:
    """Write the new files; all of them, or none.

    Raises
    ------
    ExchangeError
        The folder can't be made, or a file can't be written or has appeared meanwhile.
    """
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for entry in prepared:
            if entry.item.is_new:
                # "x" makes a file anew and follows no link
                with entry.item.path.open("x", encoding="utf-8", newline="\n") as file:
                    written.append(entry.item.path)
                    file.write(entry.text)
    except OSError as problem:
        for path in written:
            with contextlib.suppress(OSError):
                path.unlink()
        where = str(problem.filename or folder)
        raise ExchangeError(
            "the items can't be written, so none was",
            where=clean_line(where, 300),
            got=problem.strerror or str(problem),
            next_step="name another folder with --out",
        ) from None
