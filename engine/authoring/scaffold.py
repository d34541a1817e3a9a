"""Problem files to begin with: one for each answer type, valid as they are, with notes on every part.

The texts are templates in ``scaffolds/``. An author changes a file that passes lint step by step, instead of
writing one from nothing.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from engine.answers import answer_kinds
from engine.errors import UsageError
from engine.text.words import clean_line

_FOLDER = files("engine.authoring") / "scaffolds"
# A choice also begins as a pool of which each variant shows some; code comes last, for it gets a folder.
_TYPES = [kind for kind in answer_kinds() if kind != "single_choice" and (_FOLDER / f"{kind}.yaml").is_file()]
KINDS = ("single_choice", "single_choice_pool", *_TYPES, "steps", "code")
"""What can be begun: answer types with a template, single choice computed and from a pool, several steps."""
_CODE_FILES = ("exercise.py", "starter.py", "solution.py", "mutants/no_max_shift.py")
_TITLE_LENGTH = range(3, 121)  # as in the schema


def scaffold(kind: str, item: str, title: str | None, folder: Path) -> dict[Path, str]:
    """Return the files of a new item by their paths, the problem file first.

    Parameters
    ----------
    kind : str
        One of :data:`engine.authoring.scaffold.KINDS`.
    item : str
        Its id.
    title : str or None
        Made from the id if left out.
    folder : Path
        Where the problem file goes; a code exercise gets a folder of its own there.

    Raises
    ------
    UsageError
        No item can have this id or title.
    """
    _check_id(item, kind)
    home = folder / item if kind == "code" else folder
    path = home / f"{item}.yaml"
    words = {
        "ID": item,
        # JSON is YAML, too, and quotes whatever a title may hold
        "TITLE": json.dumps(_checked(title_of(item) if title is None else title), ensure_ascii=False),
        "FILE": shlex.quote(clean_line(str(path), 300)),
        "FUNCTION": item.replace("-", "_"),  # students' functions have the item's name
    }
    if kind != "code":
        return {path: _text(words, "head.yaml", f"{kind}.yaml")}
    texts = {path: _text(words, "head.yaml", "code/item.yaml")}
    return texts | {home / name: _text(words, f"code/{name}.txt") for name in _CODE_FILES}


def title_of(item: str) -> str:
    """Return an id as a title: ``my-first-item`` is ``My first item``."""
    words = item.replace("-", " ")
    title = words[:1].upper() + words[1:]
    return title if len(title) in _TITLE_LENGTH else f"Item {title}"


def write_new_files(texts: Mapping[Path, str]) -> None:
    """Write files that aren't there yet, all of them or none.

    Raises
    ------
    UsageError
        One of them is there already, or the folder can't be written to.
    """
    home = next(iter(texts)).parent
    is_new = not os.path.lexists(home)
    try:
        create_all(texts)
    except OSError as error:
        if is_new:  # the folders of a code exercise, all empty again
            shutil.rmtree(home, ignore_errors=True)
        raise _cannot_write(error, home) from error


def create_all(texts: Mapping[Path, str]) -> None:
    """Write new files, all of them or none; OSError where one exists or can't be written."""
    written: list[Path] = []
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            # "x" only ever makes a new file: no link is followed, nothing that appeared meanwhile overwritten
            with path.open("x", encoding="utf-8", newline="\n") as file:
                written.append(path)
                file.write(text)
    except OSError:
        for path in written:
            with suppress(OSError):
                path.unlink()
        raise


def _cannot_write(error: OSError, home: Path) -> UsageError:
    where = str(error.filename or home)
    if not home.is_dir() and home.exists():
        return UsageError("this isn't a folder", where=str(home), expected="--folder FOLDER")
    if isinstance(error, FileExistsError):
        message = "a file of this name exists, and nothing is overwritten"
        return UsageError(message, where=where, next_step="choose another id, or another --folder")
    message = "the file can't be written"
    step = "choose a folder that you may write to: --folder FOLDER"
    return UsageError(message, where=where, got=error.strerror or str(error), next_step=step)


def _check_id(item: str, kind: str) -> None:
    from engine.items.bank import REGISTRY_FILE, SYLLABUS_FILE
    from engine.items.field_types import Identifier, Name

    if not _fits(Identifier, item):
        raise UsageError(
            "this can't be an item's id",
            expected="at most 64 small letters, digits, and hyphens between them, such as my-first-item",
            got=repr(clean_line(item, 80)),
        )
    if f"{item}.yaml" in (SYLLABUS_FILE, REGISTRY_FILE):
        raise UsageError(f"{item}.yaml holds something else than an item", next_step="choose another id")
    if kind == "code" and not _fits(Name, item.replace("-", "_")):
        message = "a code exercise is named after its function, and this is too long for one"
        raise UsageError(message, expected="at most 32 characters", got=str(len(item)))


def _fits(kind: Any, text: str) -> bool:
    from pydantic import TypeAdapter, ValidationError

    try:
        TypeAdapter(kind).validate_python(text)
    except ValidationError:
        return False
    return True


def _checked(title: str) -> str:
    if len(title) not in _TITLE_LENGTH or clean_line(title) != title:
        raise UsageError(
            "--title can't be used", expected="one line of 3 to 120 characters", got=repr(title[:130])
        )
    return title


def _text(words: Mapping[str, str], *names: str) -> str:
    text = "".join((_FOLDER / name).read_text(encoding="utf-8") for name in names)
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text
