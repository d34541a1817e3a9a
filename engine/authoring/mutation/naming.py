"""A generated mutant becomes a known-wrong program: a file in ``mutants/`` and an entry of the problem file.

The entry is put into the text behind the last one, so comments and layout of the problem file stay.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from engine.authoring.mutation.survey import TriedMutant
from engine.authoring.mutation.trials import STOPPED
from engine.authoring.scaffold import create_all
from engine.errors import InputError, UsageError
from engine.items import CodeAnswer, ProblemSpec, load_spec
from engine.items.field_types import MisconceptionId, Sentence
from engine.text.files import read_text
from engine.text.words import clean_line

_MOST_KILLERS = 3
"""Checks that an entry names: each must fail for ever, and a person reads them."""


def name_mutant(
    path: Path, spec: ProblemSpec, entry: TriedMutant, killers: Sequence[str], name: str, feedback: str
) -> Path:
    """Write a generated mutant into its exercise, and return its file.

    Parameters
    ----------
    path : Path
        The problem file.
    spec : ProblemSpec
        What it holds.
    entry : TriedMutant
    killers : sequence of str
        The checks that its entry names, as of :func:`killers_to_name`.
    name : str
        The known mistake's id.
    feedback : str
        What a student with this mistake reads.

    Raises
    ------
    UsageError
        The id or the sentence can't be used, a file of this name exists, the entry has no place, or
        something can't be written.
    """
    assert isinstance(spec.answer, CodeAnswer)
    _check(name, feedback, {mutant.id for mutant in spec.answer.mutants})
    file = f"mutants/{name.replace('-', '_')}.py"
    text = _as_written(path)
    lines = [
        f"- id: {name}",
        f"  file: {file}",
        f"  killed_by: [{', '.join(killers)}]",
        f"  feedback: {json.dumps(feedback, ensure_ascii=False)}",
    ]
    changed = with_entry(text, lines, str(path))
    target = path.parent / file
    try:
        create_all({target: entry.mutant.source})
    except FileExistsError as error:
        message = "a file of this name exists, and nothing is overwritten"
        where = str(error.filename or target)
        raise UsageError(message, where=where, next_step="choose another --name") from error
    except OSError as error:
        message, reason = "the file can't be written", error.strerror or str(error)
        step = "check that the folder exists and may be written"
        raise UsageError(message, where=str(target), got=clean_line(reason), next_step=step) from error
    try:
        _replace(path, changed)
        load_spec(path)
    except (OSError, InputError) as error:
        with suppress(OSError):
            target.unlink()
        with suppress(OSError):  # as it was, rather than an exercise that can't be read
            _replace(path, text)
        reason = error.what if isinstance(error, InputError) else error.strerror or str(error)
        step = "check that the file may be written, and write the entry by hand if it still can't"
        raise UsageError(
            "the entry can't be written", where=str(path), got=clean_line(reason), next_step=step
        ) from error
    return target


def killers_to_name(entry: TriedMutant, comparing: frozenset[str], rubric: Sequence[str]) -> list[str]:
    """Return the checks that an entry names: those that kill on every plan, laws before comparisons.

    Parameters
    ----------
    entry : TriedMutant
    comparing : frozenset of str
        Checks that only say that a result differs from the reference's.
    rubric : sequence of str
        Every check, in the rubric's order.

    Raises
    ------
    UsageError
        The mutant survives, or no check of the rubric kills it on every plan.
    """
    if entry.survives:
        raise UsageError(
            f"the mutant {entry.mutant.id} passes every check, so no check can be named that kills it",
            next_step="add a check or a case that kills it; if it is right, declare it under equivalent",
        )
    certain = [check for check in rubric if check in entry.killed_by]
    if not certain:
        got = ", ".join(sorted({name for kills in entry.kills for name in kills}))
        what = (
            "was stopped" if STOPPED in entry.killed_by else "is noticed by no check of the rubric for sure"
        )
        raise UsageError(
            f"the mutant {entry.mutant.id} {what}",
            got=f"killed by {got}",
            next_step="name another one: a student with this mistake reads what went wrong anyway",
        )
    laws = [check for check in certain if check not in comparing]
    return (laws or certain)[:_MOST_KILLERS]


def with_entry(text: str, lines: Sequence[str], where: str) -> str:
    """Return a problem file's text with an entry behind the last one of ``answer: mutants:``.

    Parameters
    ----------
    text : str
    lines : sequence of str
        The entry, not indented.
    where : str
        The file, for messages.

    Raises
    ------
    UsageError
        The list is written in brackets.
    """
    answer = _value(yaml.compose(text, Loader=yaml.CSafeLoader), "answer")
    mutants = _value(answer, "mutants")
    last: yaml.Node
    if mutants is None:
        if not isinstance(answer, yaml.MappingNode) or answer.flow_style:
            raise _bracketed(where, "answer")
        last = answer.value[-1][1]
        blank = " " * answer.start_mark.column
        added = [f"{blank}mutants:", *(f"{blank}  {line}" for line in lines)]
    else:
        if not isinstance(mutants, yaml.SequenceNode) or mutants.flow_style or not mutants.value:
            raise _bracketed(where, "mutants")
        last = mutants.value[-1]
        added = [f"{' ' * mutants.start_mark.column}{line}" for line in lines]
    rows = text.splitlines(keepends=True)
    end = _last_line(last)
    newline = "\r\n" if rows[0].endswith("\r\n") else "\n"
    if not rows[end - 1].endswith("\n"):
        rows[end - 1] += newline
    return "".join([*rows[:end], *(line + newline for line in added), *rows[end:]])


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for name, value in pairs if name.value == key), None)


def _last_line(node: yaml.Node) -> int:
    """Return the line, from 1, on which the last value of a node ends; what follows may be a comment."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, yaml.MappingNode) else last
    end = node.end_mark
    # a block of lines ends where the next line begins
    return int(end.line if end.column == 0 and end.line > node.start_mark.line else end.line + 1)


def _bracketed(where: str, key: str) -> UsageError:
    message = f"{key} is written in brackets, into which nothing is inserted"
    return UsageError(message, where=where, next_step="write each entry on lines of its own, after a hyphen")


def _check(name: str, feedback: str, ids: set[str]) -> None:
    if not _fits(MisconceptionId, name):
        expected = "small letters, digits, and hyphens between them, such as axis-ignored"
        raise UsageError("--name can't be used", expected=expected, got=repr(clean_line(name, 80)))
    if name in ids:
        raise UsageError(f"there is a mutant {name} already", next_step="choose another --name")
    if not _fits(Sentence, feedback) or clean_line(feedback) != feedback:
        raise UsageError("--feedback can't be used", expected="one line of 1 to 1,000 characters")


def _fits(kind: Any, text: str) -> bool:
    try:
        TypeAdapter(kind).validate_python(text)
    except ValidationError:
        return False
    return True


def _as_written(path: Path) -> str:
    # with the line ends and the byte order mark of the author's editor
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        return read_text(path)


def _replace(path: Path, text: str) -> None:
    # never half a file: an author's work stands in it
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8", newline="")
    draft.replace(path)
