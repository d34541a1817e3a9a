"""The files of a bank, read and checked: one item's, and what all items share.

The registry says what a learner with a known mistake reads, so that the sentence for ``m-base2`` stands once
and not in thirty items. The syllabus says what items are about, so that ``grade coverage`` finds topics
without an item. The terms say what an item presupposes, so that a quiz of week 1 doesn't ask what week 3
teaches. All three are data of the bank; a course's own files add to them.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Discriminator, Field, RootModel, Tag

import engine
from engine.errors import EngineError, SpecError
from engine.expressions.functions import FUNCTIONS
from engine.items.answer_specs import CodeAnswer
from engine.items.bank import REGISTRY_FILE, builtin_root
from engine.items.checks import CHECKS, COMMON_CHECKS, CheckContext
from engine.items.checks.code import code_paths, exercise_path
from engine.items.field_types import EntryId, Identifier, MisconceptionId, Sentence, StrictModel, Word
from engine.items.problem_spec import ProblemSpec
from engine.text.words import join_words
from engine.text.yaml import in_order, read_yaml, validate, validation_faults


class KnownMistake(StrictModel):
    """A known mistake: the wrong formula, for lecturers, and the sentence for learners."""

    feedback: Sentence = Field(description="What is observed in the answer, and what would be right.")
    formula: Sentence | None = Field(default=None, description="The wrong formula, in words or symbols.")


def _form(value: Any) -> str:
    # a tag, so that a fault is reported for the form that was written and not for both
    return "mapping" if isinstance(value, dict | KnownMistake) else "text"


class MisconceptionRegistry(RootModel[dict[MisconceptionId, Any]]):
    """The file ``misconceptions.yaml``: by id a sentence, or ``feedback`` and ``formula``."""

    root: dict[
        MisconceptionId,
        Annotated[
            Annotated[Sentence, Tag("text")] | Annotated[KnownMistake, Tag("mapping")], Discriminator(_form)
        ],
    ]


def load_registry(path: Path) -> dict[str, str]:
    """Return the sentences of a registry file by id.

    Raises
    ------
    SpecError
        With all faults of the file.
    """
    entries = validate(read_yaml(path, keep_going=True), MisconceptionRegistry).root
    return {
        # a sentence folded over several lines is one line for students
        name: entry.feedback if isinstance(entry, KnownMistake) else " ".join(entry.split())
        for name, entry in entries.items()
    }


@lru_cache(maxsize=1)
def builtin_registry() -> Mapping[str, str]:
    """Return the built-in registry; read once."""
    return MappingProxyType(load_registry(builtin_root() / REGISTRY_FILE))


class SyllabusEntry(StrictModel):
    """One equation, algorithm, claim … that items cover."""

    title: Sentence = Field(description="What the entry stands for.")
    where: Sentence | None = Field(default=None, description="Where the lectures have it.")
    no_item: Sentence | None = Field(default=None, description="Why no item covers it.")


class Syllabus(RootModel[dict[Identifier, dict[EntryId, SyllabusEntry]]]):
    """The file ``syllabus.yaml``: by group (equations, claims …) the entries by id."""

    root: dict[Identifier, dict[EntryId, SyllabusEntry]]


def load_syllabus(path: Path) -> Mapping[str, Mapping[str, SyllabusEntry]]:
    """Return the entries of a syllabus file by group and id.

    Raises
    ------
    SpecError
        With all faults of the file.
    """
    return validate(read_yaml(path, keep_going=True), Syllabus).root


class TaughtTerm(StrictModel):
    """A term that has to be taught before items may use it, or a document whose notation they may quote."""

    title: Sentence = Field(description="What the term stands for.")
    words: tuple[Word, ...] = Field(
        default=(), max_length=40, description="Words by which a text shows the term; plurals count too."
    )

    def shown_in(self, text: str) -> str | None:
        """Return the first of the words that occurs in a text, as it is written there; None if none does.

        Case is ignored, except for words that begin with a capital: ``S1`` is a lecture, ``s1`` a state.
        """
        for word in self.words:
            flags = re.NOFLAG if word[:1].isupper() else re.IGNORECASE
            # whole words, and their plurals: "key" isn't in "monkey"
            match = re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}s?(?![A-Za-z0-9])", text, flags)
            if match is not None:
                return match[0]
        return None


class _Terms(RootModel[dict[EntryId, TaughtTerm]]):
    """The file ``terms.yaml``."""

    root: dict[EntryId, TaughtTerm]


def load_terms(path: Path) -> Mapping[str, TaughtTerm]:
    """Return the terms of a file by id.

    Raises
    ------
    SpecError
        With all faults of the file.
    """
    return validate(read_yaml(path, keep_going=True), _Terms).root


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
    paths = {name: folder / name for _, name in code_paths(data)}
    paths[answer.exercise] = exercise_path(answer.exercise, folder)
    for name, path in sorted(paths.items()):
        try:
            content = path.read_bytes()
        except OSError as problem:
            raise EngineError("a file of the exercise can't be read", where=str(path)) from problem
        # git on Windows may have changed the line ends
        parts += [name.encode(), content.replace(b"\r\n", b"\n")]
    return parts


@lru_cache(maxsize=1)
def reference_version() -> str:
    """Return the version of the reference, read from its text: nothing of it need be imported.

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


def without_errata_notes(spec: ProblemSpec) -> ProblemSpec:
    """Return an item that says nothing of the faults of its source; how it is marked stays the same."""
    quiet = tuple(erratum.model_copy(update={"note": ""}) for erratum in spec.errata)
    return spec.model_copy(update={"errata": quiet})


def with_imports(spec: ProblemSpec, packages: Sequence[str]) -> ProblemSpec:
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


def with_decimal_commas(spec: ProblemSpec) -> ProblemSpec:
    """Return an item in whose numeric fields a comma between digits is a decimal mark."""

    def changed(answer: Any) -> Any:
        return (
            answer.model_copy(update={"decimal_comma": True}) if hasattr(answer, "decimal_comma") else answer
        )

    steps = tuple(step.model_copy(update={"answer": changed(step.answer)}) for step in spec.steps)
    return spec.model_copy(update={"answer": changed(spec.answer), "steps": steps})
