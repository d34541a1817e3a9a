"""Items on their way to workers: files by their hash, checked when they arrive.

A worker that has the item of that version in its own bank needs no files. Otherwise it takes them from the
database, refuses what doesn't have its hash, puts them into a folder of its own, and takes the item from
there only if it has the very version that was handed over. An exercise's own file is Python that runs in the
worker, so whoever may publish items is trusted as the engine is; an account for workers may only read them.
Items of quizzes are data alone.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert as upsert

from engine.cluster.queue_tables import item_files, queued_items
from engine.cluster.work_queue import QueuedProgram
from engine.errors import EngineError, InputError
from engine.items import CodeAnswer
from engine.items.bank import REGISTRY_FILE, Bank, builtin_bank, builtin_root
from engine.items.checks.code import code_paths
from engine.store.database import Database
from engine.text.files import work_folder
from engine.text.words import clean_line, count_noun

_HASH: Final = re.compile("[0-9a-f]{64}")
_PUBLISH_AGAIN: Final = "hand something of this exercise over again: that publishes its files again"
_MOST_LOADED: Final = 64  # exercises; a course has a dozen
_MOST_FILES: Final = 2_000
_MOST_BYTES: Final = 32 * 2**20
_MOST_LIST_BYTES: Final = 2**20  # of the list of names and hashes


def publish_item(database: Database, course: str, bank: Bank, item: str, seed: bytes) -> str:
    """Store what judging an exercise depends on, and return its version.

    Parameters
    ----------
    database : Database
    course : str
    bank : Bank
    item : str
    seed : bytes
        Of the exercise's hidden plan: it tells nothing about other plans.

    Raises
    ------
    InputError
        There is no such exercise, or it has a fault.
    EngineError
        Its files can't be read.
    """
    spec = bank.load(item)
    if not isinstance(spec.answer, CodeAnswer):
        raise InputError(f"{item} asks for no code", next_step="hand over code exercises only")
    names = {name for _, name in code_paths(spec.answer.model_dump(mode="json"))}
    version = bank.version(item)
    _publish(database, course, item, version, seed.hex(), _contents(bank, item, names))
    return version


def publish_drawn_item(database: Database, course: str, bank: Bank, item: str) -> str:
    """Store what drawing an item of a quiz needs, its keys among it; return what stands for these files.

    Parameters
    ----------
    database : Database
    course : str
    bank : Bank
    item : str

    Raises
    ------
    InputError
        There is no such item, or it has a fault.
    EngineError
        Its file can't be read.
    """
    # Without a seed: each variant has one of its own.
    files = _publish(database, course, item, bank.version(item), "", _contents(bank, item, ()), drawn=True)
    return _files_digest(files)


def _publish(
    database: Database,
    course: str,
    item: str,
    version: str,
    seed: str,
    contents: Mapping[str, bytes],
    *,
    drawn: bool = False,
) -> dict[str, str]:
    """Store an item's files and their list, and return the list: hashes by name."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}

    def store(connection: sa.Connection) -> None:
        rows = [
            {"course": course, "sha256": hashes[name], "content": content}
            for name, content in contents.items()
        ]
        statement = upsert(item_files)
        # What is there under this hash should be the same; where it isn't, it is mended.
        statement = statement.on_conflict_do_update(
            index_elements=[item_files.c.course, item_files.c.sha256],
            set_={"content": statement.excluded.content},
            where=item_files.c.content != statement.excluded.content,
        )
        if rows:
            connection.execute(statement, rows)
        names = {"course": course, "item": item, "version": version, "seed": seed}
        files = json.dumps(hashes, sort_keys=True)
        statement = upsert(queued_items).values(**names, files=files, drawn=drawn)
        # The same version may be written with other comments: the newest files are as good.
        same = [queued_items.c.course, queued_items.c.item, queued_items.c.version]
        newest = {name: statement.excluded[name] for name in ("seed", "files", "drawn")}
        connection.execute(statement.on_conflict_do_update(index_elements=same, set_=newest))

    database.change(store)
    return hashes


def _contents(bank: Bank, item: str, beside: Collection[str]) -> dict[str, bytes]:
    """Return an item's file and those beside it by their paths in a bank of this item alone."""
    path = bank.path(item)
    contents = {}
    for name in sorted({path.name, *beside}):
        try:
            contents[f"{item}/{name}"] = (path.parent / name).read_bytes()
        except OSError as error:
            raise EngineError(
                "a file of the exercise can't be read", where=str(path.parent / name)
            ) from error
    # Sentences of known mistakes that the item names without repeating them. As mappings: a plain text would
    # lose its line breaks when it is read.
    sentences = {name: {"feedback": text} for name, text in bank.registry().items()}
    contents[REGISTRY_FILE] = json.dumps(sentences, sort_keys=True).encode()
    total = sum(map(len, contents.values()))
    if total > _MOST_BYTES:
        raise InputError(
            "the files of the exercise are too large for workers",
            where=str(path.parent),
            expected=f"{_MOST_BYTES} bytes at most, all together",
            got=count_noun(total, "byte"),
        )
    return contents


def _files_digest(files: Mapping[str, str]) -> str:
    """Return what stands for a list of files: their content, whatever the item's version says of it."""
    return hashlib.sha256(json.dumps(dict(files), sort_keys=True).encode()).hexdigest()


class PublishedItems:
    """The exercises of all courses that a worker grades; safe to use from several threads.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._folders = ExitStack()
        self._folder, self._owner = self._new_folder()
        self._builtin = builtin_bank()
        self._lock = threading.Lock()
        self._prepared: OrderedDict[tuple[str, ...], Any] = OrderedDict()

    def close(self) -> None:
        """Delete the files."""
        self._folders.close()

    def _new_folder(self) -> tuple[Path, int]:
        """Return a folder that goes with this process, however it ends, and whose it is."""
        folder = self._folders.enter_context(work_folder())
        return folder, folder.stat().st_uid

    def _folder_for_item(self) -> Path:
        # Systems delete what has lain in /tmp for days, and a worker runs for months. Whoever then made a
        # folder of this name could write what is loaded from it.
        try:
            is_ours = self._folder.stat().st_uid == self._owner
        except FileNotFoundError:
            is_ours = False
        if not is_ours:
            self._folder, self._owner = self._new_folder()
        return Path(tempfile.mkdtemp(dir=self._folder))

    def prepared(self, program: QueuedProgram) -> Any:
        """Return (exercise, plan) of a program's exercise, loaded and drawn once.

        Raises
        ------
        EngineError
            It isn't published, a file isn't what its hash says, or the item has another version here.
        InputError
            The exercise has a fault.
        """
        from engine.code import exercise_of, freeze_plan

        def prepare() -> Any:
            seed, bank = self._bank(program)
            exercise = exercise_of(bank, program.item)
            return exercise, freeze_plan(exercise, seed)

        return self._once((program.course, program.item, program.version), prepare)

    def bank_of_drawn(self, program: QueuedProgram, files: str, wording: Mapping[str, bool]) -> Bank:
        """Return a bank that holds the item of a quiz, and the sentences of its course.

        Parameters
        ----------
        program : QueuedProgram
        files : str
            What stands for the files that it is drawn from, as :func:`publish_drawn_item` returned it.
        wording : mapping of str to bool
            As :attr:`engine.items.bank.Bank.wording` of the course.

        Raises
        ------
        EngineError, InputError
            As :meth:`prepared`, or the item was published with other files since.
        """

        def prepare() -> Bank:
            _, names = self._entry(program)
            if _files_digest(names) != files:
                raise EngineError(f"{program.item} was published again with other files meanwhile")
            # Without the built-in bank: its sentences may be others than those of the course's machine.
            folder = self._unpacked(program, names)
            bank = Bank(
                [folder], errata_notes=wording["errata_notes"], decimal_comma=wording["decimal_comma"]
            )
            self._check_version(program, bank)
            return bank

        settings = (name for name, is_on in sorted(wording.items()) if is_on)
        return cast(Bank, self._once((program.course, program.item, files, *settings), prepare))

    def _once(self, key: tuple[str, ...], prepare: Callable[[], Any]) -> Any:
        with self._lock:  # whoever comes second waits: frozen twice, a plan would cost its seconds twice
            if key not in self._prepared:
                self._prepared[key] = prepare()
                while len(self._prepared) > _MOST_LOADED:
                    self._prepared.popitem(last=False)
            self._prepared.move_to_end(key)
            return self._prepared[key]

    def _bank(self, program: QueuedProgram) -> tuple[bytes, Bank]:
        seed, files = self._entry(program)
        if program.item in self._builtin and self._builtin.version(program.item) == program.version:
            return seed, self._builtin
        folder = self._unpacked(program, files)
        bank = Bank([builtin_root(), folder])
        self._check_version(program, bank)
        return seed, bank

    @staticmethod
    def _check_version(program: QueuedProgram, bank: Bank) -> None:
        if bank.version(program.item) != program.version:
            raise EngineError(
                f"{program.item} isn't the item that was handed over",
                expected=f"version {program.version}",
                got=f"version {bank.version(program.item)}",
                next_step="use one version of Softmark on all machines",
            )

    def _entry(self, program: QueuedProgram) -> tuple[bytes, dict[str, str]]:
        same = (
            queued_items.c.course == program.course,
            queued_items.c.item == program.item,
            queued_items.c.version == program.version,
        )
        size = sa.func.octet_length(queued_items.c.files)
        with self._database.read() as connection:
            if (connection.execute(sa.select(size).where(*same)).scalar() or 0) > _MOST_LIST_BYTES:
                raise EngineError(f"{program.item} has too many files")
            row = connection.execute(
                sa.select(queued_items.c.seed, queued_items.c.files).where(*same)
            ).first()
        if row is None:
            raise EngineError(f"{program.item} isn't published in this version")
        try:
            return bytes.fromhex(row.seed), _checked_files(program.item, json.loads(row.files))
        except (ValueError, RecursionError) as error:
            raise EngineError(
                f"the list of {program.item}'s files can't be read", got=str(error), next_step=_PUBLISH_AGAIN
            ) from error

    def _unpacked(self, program: QueuedProgram, files: dict[str, str]) -> Path:
        if len(files) > _MOST_FILES:
            raise EngineError(f"{program.item} has too many files", got=f"{len(files)}")
        self._check_sizes(program, files)
        try:
            folder = self._folder_for_item()
        except OSError as error:
            raise _not_written(program, tempfile.gettempdir(), error) from error
        for name, sha256 in files.items():
            content = self._content(program.course, sha256)
            if hashlib.sha256(content).hexdigest() != sha256:
                raise EngineError(
                    f"a file of {program.item} isn't what was published: its content has another hash",
                    where=name[:100],
                    next_step=_PUBLISH_AGAIN,
                )
            path = folder / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as file:  # never through a name that is there, nor over it
                    file.write(content)
            except OSError as error:
                raise _not_written(program, name[:100], error) from error
        return folder

    def _check_sizes(self, program: QueuedProgram, files: dict[str, str]) -> None:
        """Refuse files that are too large, before any of them is in memory."""
        size = sa.func.octet_length(item_files.c.content)
        query = sa.select(item_files.c.sha256, size).where(
            item_files.c.course == program.course, item_files.c.sha256.in_(set(files.values()))
        )
        with self._database.read() as connection:
            sizes = {row[0]: int(row[1]) for row in connection.execute(query)}
        # The same content under two names is written twice.
        total = sum(sizes.get(sha256, 0) for sha256 in files.values())
        if total > _MOST_BYTES:
            raise EngineError(
                f"the files of {program.item} are too large",
                expected=f"{_MOST_BYTES} bytes at most, all together",
                got=count_noun(total, "byte"),
            )

    def _content(self, course: str, sha256: str) -> bytes:
        query = sa.select(item_files.c.content).where(
            item_files.c.course == course,
            item_files.c.sha256 == sha256,
            # It was looked at before; now it may be another one.
            sa.func.octet_length(item_files.c.content) <= _MOST_BYTES,
        )
        with self._database.read() as connection:
            content = connection.execute(query).scalar()
        if content is None:
            raise EngineError("a file of an exercise isn't published", got=sha256, next_step=_PUBLISH_AGAIN)
        return bytes(content)


def _not_written(program: QueuedProgram, where: str, error: OSError) -> EngineError:
    return EngineError(
        f"a file of {program.item} can't be written on this machine",
        where=where,
        got=error.strerror or str(error),
    )


def _checked_files(item: str, files: Any) -> dict[str, str]:
    """Return a list of files by name with their hashes; a ValueError where it isn't one.

    Names are written to this machine's disk, so they lead nowhere but into their folder, on any system.
    """
    if not isinstance(files, dict):
        raise ValueError("no list of names and hashes")
    for name, sha256 in files.items():
        parts = name.split("/")
        is_safe = name.isprintable() and len(name) <= 300 and not set(name) & set('\\:*?"<>|')
        if not is_safe or any(part in ("", ".", "..") for part in parts):
            raise EngineError(f"a file of {item} leads out of its folder", where=clean_line(name, 100))
        if not (isinstance(sha256, str) and _HASH.fullmatch(sha256)):
            raise ValueError(f"{clean_line(name, 100)} has no hash")
    return files
