"""The bank: which items there are, and each of them when it is needed.

Making a bank lists folders and reads no file, as most commands need one item of two hundred::

    bank = Bank([builtin_root(), course / "problems"])
    spec, version = bank.load("softmax-weights"), bank.version("softmax-weights")
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import engine
from engine.errors import Diagnostic, EngineError, InputError, SpecError, UnknownItemError
from engine.expressions.functions import FUNCTIONS
from engine.items.answer_specs import CodeAnswer
from engine.items.checks import CHECKS, COMMON_CHECKS, CheckContext
from engine.items.checks.code import code_paths
from engine.items.misconceptions import (
    REGISTRY_FILE,
    SYLLABUS_FILE,
    TERMS_FILE,
    SyllabusEntry,
    TaughtTerm,
    builtin_registry,
    builtin_root,
    load_registry,
    load_syllabus,
    load_terms,
)
from engine.items.problem_spec import ProblemSpec
from engine.text.words import join_words, near_words, one_line
from engine.text.yaml import in_order, read_yaml, validation_faults


def load_spec(
    path: Path,
    *,
    registry: Mapping[str, str] | None = None,
    functions: Iterable[str] = FUNCTIONS,
) -> ProblemSpec:
    """Load a problem file.

    Parameters
    ----------
    path : Path
        The file; the item's id is its name.
    registry : mapping of str to str, optional
        Known mistakes and their sentences; the built-in registry if left out.
    functions : iterable of str, optional
        The functions that expressions may call; ours if left out.

    Returns
    -------
    ProblemSpec

    Raises
    ------
    SpecError
        With all faults of the file, in the order of their lines.
    """
    document = read_yaml(path, keep_going=True)
    spec, faults = validation_faults(document, ProblemSpec)
    mistakes = builtin_registry() if registry is None else registry
    if isinstance(document.data, dict):
        context = CheckContext(document, path, mistakes, frozenset(functions))
        checks = CHECKS if context.value("answer", "type") == "code" else COMMON_CHECKS
        # a value of the wrong type is one fault, whatever a check makes of it
        places = {(fault.line, fault.column) for fault in faults}
        faults += [
            fault for check in checks for fault in check(context) if (fault.line, fault.column) not in places
        ]
    faults += document.faults
    if spec is None or faults:
        raise SpecError.of_file(in_order(faults))
    return spec


# 64 bits of the hash: enough that no two versions of an item ever agree, short enough to be read out.
_DIGITS = 16


def item_version(spec: ProblemSpec, path: Path | None = None) -> str:
    """Return the version of an item: 16 hexadecimal digits.

    It changes with everything that its marks depend on: the content of the spec (not its layout or comments),
    the files of a code exercise, and the version of the reference.

    Parameters
    ----------
    spec : ProblemSpec
    path : Path, optional
        The file of the spec; needed for code exercises, whose files lie beside it.

    Raises
    ------
    ValueError
        A code exercise without ``path``.
    EngineError
        A file of the exercise or the reference's version can't be read.
    """
    content = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    parts = [
        json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode(),
        reference_version().encode(),
    ]
    if isinstance(spec.answer, CodeAnswer):
        if path is None:
            raise ValueError(f"the version of {spec.id} needs the path of its file")
        parts += _files(spec.answer, path.parent)
    digest = hashlib.sha256()
    for part in parts:  # each after its length, so that no two lists of parts give one text
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()[:_DIGITS]


def _files(answer: CodeAnswer, folder: Path) -> list[bytes]:
    data = answer.model_dump(mode="json")
    parts = []
    for name in sorted({name for _, name in code_paths(data)}):
        try:
            content = (folder / name).read_bytes()
        except OSError as problem:
            raise EngineError("a file of the exercise can't be read", where=str(folder / name)) from problem
        # git on Windows may have changed the line ends
        parts += [name.encode(), content.replace(b"\r\n", b"\n")]
    return parts


@lru_cache(maxsize=1)
def reference_version() -> str:
    """Return the version of the reference, read from its text: importing it would import torch.

    Raises
    ------
    EngineError
        It isn't there.
    """
    path = Path(engine.__file__).resolve().parent.parent / "reference" / "__init__.py"
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except (OSError, SyntaxError, ValueError) as problem:
        raise EngineError("the version of the reference can't be read", where=str(path)) from problem
    for statement in body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            if "__version__" in names:
                return str(statement.value.value)
    raise EngineError("the reference has no version", where=str(path), expected='__version__ = "…"')


K = TypeVar("K")
V = TypeVar("V")
_OTHER_FILES = frozenset({REGISTRY_FILE, SYLLABUS_FILE, TERMS_FILE})
_OTHER_FOLDERS = frozenset({"blueprints", "mutants", "__pycache__"})


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
    ) -> None:
        self._roots = tuple(Path(root) for root in roots)
        self._errata_notes = errata_notes
        self._decimal_comma = decimal_comma
        self._packages = None if packages is None else tuple(packages)
        self._paths: dict[str, Path] = {}
        self._specs: dict[str, ProblemSpec] = {}
        self._merged: dict[str, Mapping[Any, Any]] = {}
        self._ambiguous: dict[str, SpecError] = {}
        for root in self._roots:
            paths, ambiguous = _index(root)
            self._paths |= paths
            # A later root takes an id's place, whether it is clear there or not.
            self._ambiguous = {i: e for i, e in self._ambiguous.items() if i not in paths} | ambiguous

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
            spec = load_spec(self.path(item_id), registry=self.registry())
            spec = spec if self._errata_notes else without_errata_notes(spec)
            spec = _with_decimal_commas(spec) if self._decimal_comma else spec
            self._specs[item_id] = spec if self._packages is None else _with_imports(spec, self._packages)
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

    def version(self, item_id: str) -> str:
        """Return the item version: see :func:`engine.items.bank.item_version`."""
        spec, path = self.load(item_id), self.path(item_id)
        has_imports = self._packages is not None and isinstance(spec.answer, CodeAnswer)
        # what a course's settings change of an item must not change its version, on which marks hang
        if self._decimal_comma or has_imports or (spec.errata and not self._errata_notes):
            spec = load_spec(path, registry=self.registry())
        return item_version(spec, path)

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
        return spec.points if isinstance(spec.answer, CodeAnswer) else None

    def feedback_on(self, item_id: str, mistake: str) -> str:
        """Return what a student with a known mistake reads; "" where item and registry don't know it."""
        try:
            spec = self.load(item_id)
        except InputError:
            return self.registry().get(mistake, "")
        if isinstance(spec.answer, CodeAnswer):
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
        return self._of_all_roots(REGISTRY_FILE, load_registry)

    def syllabus(self) -> Mapping[str, Mapping[str, SyllabusEntry]]:
        """Return what a course covers, by group and id; read once, a course's own file added.

        Raises
        ------
        SpecError
            A syllabus file has faults.
        """
        merged: dict[str, dict[str, SyllabusEntry]] = {}
        for (group, entry_id), entry in self._of_all_roots(SYLLABUS_FILE, _flat_syllabus).items():
            merged.setdefault(group, {})[entry_id] = entry
        return merged

    def terms(self) -> Mapping[str, TaughtTerm]:
        """Return the terms that items may need, by id; read once, a course's own file added.

        Raises
        ------
        SpecError
            A file of terms has faults.
        """
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


def _flat_syllabus(path: Path) -> dict[tuple[str, str], SyllabusEntry]:
    groups = load_syllabus(path).items()
    return {(group, entry_id): entry for group, entries in groups for entry_id, entry in entries.items()}


def without_errata_notes(spec: ProblemSpec) -> ProblemSpec:
    """Return an item that says nothing of the faults of its source; how it is marked stays the same."""
    quiet = tuple(erratum.model_copy(update={"note": ""}) for erratum in spec.errata)
    return spec.model_copy(update={"errata": quiet})


def builtin_bank() -> Bank:
    """Return the bank that comes with Softmark."""
    return Bank([builtin_root()])


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


def _with_imports(spec: ProblemSpec, packages: Sequence[str]) -> ProblemSpec:
    """Return a code exercise whose statement says what may be imported and used; other items as they are."""
    if not isinstance(spec.answer, CodeAnswer):
        return spec
    note = (
        "Your file may import the standard library, numpy, torch, and .py files that you hand in beside it."
    )
    if packages:
        note += f" {_quoted_list(packages, 'and')} may be imported, too, if installed where it is graded."
    if spec.answer.forbidden:
        note += f" The file may not contain {_quoted_list(spec.answer.forbidden, 'or')}."
    return spec.model_copy(update={"stem": f"{spec.stem.rstrip()}\n\n{note}\n"})


def _quoted_list(names: Sequence[str], word: str) -> str:
    return join_words([f"`{name}`" for name in names], word)


def _with_decimal_commas(spec: ProblemSpec) -> ProblemSpec:
    """Return an item in whose numeric fields a comma between digits is a decimal mark."""

    def changed(answer: Any) -> Any:
        return (
            answer.model_copy(update={"decimal_comma": True}) if hasattr(answer, "decimal_comma") else answer
        )

    steps = tuple(step.model_copy(update={"answer": changed(step.answer)}) for step in spec.steps)
    return spec.model_copy(update={"answer": changed(spec.answer), "steps": steps})
