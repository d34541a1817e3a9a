"""The bank: which items there are, and each of them when it is needed.

Making a bank lists folders and reads no file, as most commands need one item of two hundred::

    bank = Bank([builtin_root(), course / "problems"])
    spec, version = bank.load("softmax-weights"), bank.version("softmax-weights")

Nothing heavy is imported before an item is read (by :mod:`engine.items.bank_files`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import engine
from engine.errors import Diagnostic, InputError, SpecError, UnknownItemError
from engine.text.words import join_words, near_words, one_line

if TYPE_CHECKING:
    from engine.items.bank_files import SyllabusEntry, TaughtTerm
    from engine.items.problem_spec import ProblemSpec
    from engine.text.cache import JsonCache

REGISTRY_FILE = "misconceptions.yaml"
SYLLABUS_FILE = "syllabus.yaml"
TERMS_FILE = "terms.yaml"

K = TypeVar("K")
T = TypeVar("T")
V = TypeVar("V")
_OTHER_FILES = frozenset({REGISTRY_FILE, SYLLABUS_FILE, TERMS_FILE})
_OTHER_FOLDERS = frozenset({"blueprints", "mutants", "__pycache__"})


def builtin_root() -> Path:
    """Return the folder of the built-in bank, beside the engine."""
    return Path(engine.__file__).resolve().parent.parent / "problems"


@dataclass(frozen=True, slots=True)
class ItemSummary:
    """What lists say of an item, and plans choose it by; see :class:`engine.items.ProblemSpec`."""

    id: str
    title: str
    kind: str
    difficulty: int
    bloom: str
    points: float
    topics: tuple[str, ...]
    status: str
    function: str  # "" where no code is asked for
    needs: tuple[str, ...]
    documents: tuple[str, ...]  # that its sources cite
    needs_person: bool = False  # whether somebody must mark an answer to it


class Bank:
    """Items by id, an item's id being its file's name.

    Parameters
    ----------
    roots : sequence of Path
        Folders that are searched through; an item (or a registry entry) of a later one takes the
        place of an earlier one with the same id. Folders named ``blueprints`` and ``mutants``, hidden
        ones, ``misconceptions.yaml``, ``syllabus.yaml`` and ``terms.yaml`` hold no items.
    errata_notes : bool
        Whether items keep the notes on faults of their sources, which students read. Without them an item
        is marked as with them, and its version is the same.
    decimal_comma : bool
        Whether ``0,5`` means one half in every field that takes numbers.
    packages : sequence of str, optional
        What students' code may import beside the standard library, numpy and torch. The statement of each
        code exercise says so; the item's version is the same. None leaves statements as they stand.
    cache : JsonCache, optional
        Where summaries, the registry and what :meth:`derived` makes are kept for the next command.

    Raises
    ------
    InputError
        A root isn't a folder.

    Notes
    -----
    Making a bank only lists folders; files are read by :meth:`load` and :meth:`registry`. A file
    with faults, or an id that two files of one root claim, spoils that item only.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        *,
        errata_notes: bool = True,
        decimal_comma: bool = False,
        packages: Sequence[str] | None = None,
        cache: JsonCache | None = None,
    ) -> None:
        self._roots = tuple(Path(root) for root in roots)
        self._errata_notes = errata_notes
        self._decimal_comma = decimal_comma
        self._packages = None if packages is None else tuple(packages)
        self._cache = cache
        self._paths: dict[str, Path] = {}
        self._written: dict[str, ProblemSpec] = {}
        self._specs: dict[str, ProblemSpec] = {}
        self._merged: dict[str, Mapping[Any, Any]] = {}
        self._ambiguous: dict[str, SpecError] = {}
        for root in self._roots:
            paths, ambiguous = _index(root)
            self._paths |= paths
            # A later root takes an id's place, whether it is clear there or not.
            self._ambiguous = {i: e for i, e in self._ambiguous.items() if i not in paths} | ambiguous

    @property
    def wording(self) -> Mapping[str, bool]:
        """The settings that change what students read of an item, and not its version."""
        return {"errata_notes": self._errata_notes, "decimal_comma": self._decimal_comma}

    def ids(self) -> list[str]:
        """Return the ids of all items, sorted."""
        return sorted(self._paths)

    def code_ids(self) -> list[str]:
        """Return the ids of the code exercises, sorted: each lies in a folder of its own name.

        Reading every file to find them would cost more than grading does.
        """
        return [item for item in self.ids() if self._paths[item].parent.name == item]

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._paths

    def __len__(self) -> int:
        return len(self._paths)

    def path(self, item_id: str) -> Path:
        """Return the file of an item.

        Raises
        ------
        UnknownItemError
            There is none; the message suggests the nearest ids.
        """
        try:
            return self._paths[item_id]
        except KeyError:
            raise self._unknown(item_id) from None

    def load(self, item_id: str) -> ProblemSpec:
        """Return an item; each is read once.

        Raises
        ------
        UnknownItemError
            There is none.
        SpecError
            Its file has faults, or two files of one root claim its id.
        """
        if item_id in self._ambiguous:
            raise self._ambiguous[item_id]
        if item_id not in self._specs:
            self._specs[item_id] = self._under_settings(self._as_written(item_id))
        return self._specs[item_id]

    def readable(self) -> tuple[list[ProblemSpec], list[SpecError]]:
        """Return every item that can be read, by id, and an error for each one that can't."""
        specs: list[ProblemSpec] = []
        faulty: list[SpecError] = []
        for item_id in self.ids():
            try:
                specs.append(self.load(item_id))
            except SpecError as error:
                faulty.append(error)
        return specs, faulty

    def summaries(self) -> tuple[list[ItemSummary], list[SpecError]]:
        """Return what lists say of every item that can be read, by id, and an error for each other one."""
        if self._cache is None:
            specs, faulty = self.readable()
            return [_summary(spec) for spec in specs], faulty
        from engine.text.cache import as_plain, contents_digest, file_state, of_plain

        # Looked at before any file is read: what is written from here on makes it another state.
        state, is_settled = file_state(self._roots)
        key = [str(root.absolute()) for root in self._roots]
        previous = self._cache.get("bank", key) or {"state": "", "items": {}}
        if state == previous["state"]:
            return [of_plain(ItemSummary, entry) for _, entry in previous["items"].values()], []
        faulty, items = [], {}
        for item_id in self.ids():
            contents = contents_digest(self._files(item_id))
            entry = previous["items"].get(item_id)
            if item_id in self._ambiguous or not entry or entry[0] != contents:
                try:
                    entry = [contents, as_plain(_summary(self.load(item_id)))]
                except SpecError as error:
                    faulty.append(error)
                    continue
            items[item_id] = entry
        # A faulty file is read each time, to say what is wrong with it.
        certain = {i: entry for i, entry in items.items() if self._lies_together(i, entry[1]["kind"])}
        is_settled = is_settled and not faulty and len(certain) == len(items)
        self._cache.put("bank", key, {"state": state if is_settled else "", "items": certain})
        return [of_plain(ItemSummary, entry) for _, entry in items.values()], faulty

    def summary(self, item_id: str) -> ItemSummary:
        """Return what lists say of one item; the errors are those of :meth:`load`."""
        return self.derived(ItemSummary, item_id, [], lambda: _summary(self.load(item_id)))

    def derived(self, kind: type[T], item_id: str, facts: Sequence[str], make: Callable[[], T]) -> T:
        """Return what follows from an item and some facts, from the cache where the same was made before.

        Parameters
        ----------
        kind : type
            A frozen dataclass of :mod:`engine.model`.
        item_id : str
        facts : sequence of str
            All that it depends on beside the item's files, the registry and the bank's settings.
        make : callable
            Makes it.
        """
        if self._cache is None or item_id in self._ambiguous:
            return make()
        from engine.text.cache import as_plain, of_plain

        settings = json.dumps([self._errata_notes, self._decimal_comma, self._packages])
        plain = self._cache.derived(
            kind.__name__,
            self._files(item_id),
            [item_id, settings, *facts],
            lambda: as_plain(make()),
            lambda _: self._lies_together(item_id, self.load(item_id).kind),
        )
        return of_plain(kind, plain)

    def _files(self, item_id: str) -> list[Path]:
        """Return the files and folders that an item is read from, files of built-in exercises among them."""
        path = self.path(item_id)
        if path.parent.name != item_id:
            return [*self._registry_files(), path]
        return [*self._registry_files(), path.parent, *self._exercise_files]

    @cached_property
    def _exercise_files(self) -> list[Path]:
        # Listed once: lists of all items ask for each code exercise.
        return sorted(builtin_root().glob("code/*/exercise.py"))

    def _lies_together(self, item_id: str, kind: str) -> bool:
        # Files of a code exercise that has no folder of its own may lie anywhere beside it.
        return kind != "code" or self.path(item_id).parent.name == item_id

    def _registry_files(self) -> list[Path]:
        return [path for root in self._roots if (path := root / REGISTRY_FILE).is_file()]

    def version(self, item_id: str) -> str:
        """Return the item version: see :func:`engine.items.bank_files.item_version`."""
        from engine.items.bank_files import item_version

        self.load(item_id)  # whose errors say more than those of a single file
        # what a course's settings change of an item must not change its version, on which marks hang
        return item_version(self._as_written(item_id), self.path(item_id))

    def _as_written(self, item_id: str) -> ProblemSpec:
        from engine.items.bank_files import load_spec

        if item_id not in self._written:
            self._written[item_id] = load_spec(self.path(item_id), registry=self.registry())
        return self._written[item_id]

    def _under_settings(self, spec: ProblemSpec) -> ProblemSpec:
        from engine.items import bank_files

        spec = spec if self._errata_notes else bank_files.without_errata_notes(spec)
        spec = bank_files.with_decimal_commas(spec) if self._decimal_comma else spec
        return spec if self._packages is None else bank_files.with_imports(spec, self._packages)

    def has_changed(self, item_id: str, version: str) -> bool:
        """Return whether an item differs from what it was at this version; one that is gone doesn't."""
        try:
            return self.version(item_id) != version
        except InputError:
            return False

    def title_of(self, item_id: str) -> str:
        """Return an item's title; its id where it can't be read (any more)."""
        try:
            return self.load(item_id).title
        except InputError:
            return item_id

    def code_points(self, item_id: str) -> float | None:
        """Return the full points of a code exercise, None where there is none of that id."""
        try:
            spec = self.load(item_id)
        except InputError:
            return None
        return spec.points if spec.kind == "code" else None

    def hidden_checks(self, item_id: str) -> frozenset[str]:
        """Return the checks of a code exercise that aren't ``public``; none where there is no exercise."""
        try:
            spec = self.load(item_id)
        except InputError:
            return frozenset()
        checks = getattr(spec.answer, "checks", ()) if spec.kind == "code" else ()
        return frozenset(check.id for check in checks if not check.public)

    def feedback_on(self, item_id: str, mistake: str) -> str:
        """Return what a student with a known mistake reads; "" where item and registry don't know it."""
        try:
            spec = self.load(item_id)
        except InputError:
            return self.registry().get(mistake, "")
        if spec.answer is not None and spec.answer.type == "code":
            mutants = {mutant.id: mutant for mutant in spec.answer.mutants}
            # A mutant that combines others has no sentence: theirs are said one after the other.
            parts = mutants[mistake].combines or (mistake,) if mistake in mutants else ()
            return " ".join(mutants[part].feedback or "" for part in parts if part in mutants).strip()
        misconceptions = [*spec.misconceptions, *(m for step in spec.steps for m in step.misconceptions)]
        inline = next((m.feedback for m in misconceptions if m.id == mistake and m.feedback), None)
        return inline or self.registry().get(mistake, "")

    def registry(self) -> Mapping[str, str]:
        """Return the sentences of all known mistakes by id; read once.

        Raises
        ------
        SpecError
            A registry file has faults.
        """

        def read() -> dict[str, str]:
            from engine.items.bank_files import load_registry

            return dict(self._of_all_roots(REGISTRY_FILE, load_registry))

        if self._cache is None:
            read()
        elif REGISTRY_FILE not in self._merged:
            sentences = self._cache.derived("registry", self._registry_files(), [], read)
            self._merged[REGISTRY_FILE] = MappingProxyType(sentences)
        return self._merged[REGISTRY_FILE]

    def syllabus(self) -> Mapping[str, Mapping[str, SyllabusEntry]]:
        """Return what a course covers, by group and id; read once, a course's own file added.

        Raises
        ------
        SpecError
            A syllabus file has faults.
        """
        from engine.items.bank_files import load_syllabus

        def flat(path: Path) -> dict[tuple[str, str], SyllabusEntry]:
            groups = load_syllabus(path).items()
            return {
                (group, entry_id): entry for group, entries in groups for entry_id, entry in entries.items()
            }

        merged: dict[str, dict[str, SyllabusEntry]] = {}
        for (group, entry_id), entry in self._of_all_roots(SYLLABUS_FILE, flat).items():
            merged.setdefault(group, {})[entry_id] = entry
        return merged

    def terms(self) -> Mapping[str, TaughtTerm]:
        """Return the terms that items may need, by id; read once, a course's own file added.

        Raises
        ------
        SpecError
            A file of terms has faults.
        """
        from engine.items.bank_files import load_terms

        return self._of_all_roots(TERMS_FILE, load_terms)

    def _of_all_roots(self, name: str, load: Callable[[Path], Mapping[K, V]]) -> Mapping[K, V]:
        if name not in self._merged:
            merged: dict[K, V] = {}
            for root in self._roots:
                if (root / name).is_file():
                    merged |= load(root / name)
            self._merged[name] = MappingProxyType(merged)
        return self._merged[name]

    def _unknown(self, item_id: str) -> UnknownItemError:
        near = near_words(item_id, self._paths, count=3)
        step = f"did you mean {join_words(near, 'or')}?" if near else "see: grade list"
        return UnknownItemError(f"there is no item '{one_line(item_id)}' in the bank", next_step=step)


def builtin_bank() -> Bank:
    """Return the bank that comes with Softmark."""
    return Bank([builtin_root()])


def _summary(spec: ProblemSpec) -> ItemSummary:
    function = spec.answer.function if spec.answer is not None and spec.answer.type == "code" else ""
    documents = tuple(source.document for source in spec.sources)
    about = spec.id, spec.title, spec.kind, spec.difficulty, spec.bloom, spec.points, spec.topics
    needs_person = any(getattr(answer, "needs_person", False) for _, answer in spec.answers)
    return ItemSummary(*about, spec.status, function, spec.needs, documents, needs_person)


def _index(root: Path) -> tuple[dict[str, Path], dict[str, SpecError]]:
    """Return the item files below a folder by id, and an error for each id that is there twice."""
    if not root.is_dir():
        raise InputError("there is no folder of problems here", where=str(root), expected="a folder")
    paths: dict[str, Path] = {}
    ambiguous: dict[str, list[Diagnostic]] = {}
    for path in item_files(root):
        first = paths.setdefault(path.stem, path)
        if first != path:
            message = f"the id '{one_line(path.stem)}' belongs to {first} already; ids are unique in a bank"
            ambiguous.setdefault(path.stem, []).append(Diagnostic(str(path), 1, 1, message))
    return paths, {item_id: SpecError.of_file(faults) for item_id, faults in ambiguous.items()}


def item_files(root: Path) -> Iterator[Path]:
    """Yield the problem files below a folder, in order."""
    for folder, folders, files in os.walk(root):
        # os.walk goes into the folders that are left in the list, in its order
        folders[:] = sorted(
            name for name in folders if name not in _OTHER_FOLDERS and not name.startswith(".")
        )
        for name in sorted(files):
            if name.endswith(".yaml") and not name.startswith(".") and name not in _OTHER_FILES:
                yield Path(folder) / name
