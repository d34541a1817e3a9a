"""A person's data as one archive: a JSON document, and the code handed in as files."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine import __version__
from engine.errors import InputError, StoreError
from engine.files import replacing
from engine.store.tables import attempts

__all__ = ["write_person"]

_READ_ME = """\
What a course's store holds on one person, written by Softmark {version}.

person.json   everything by table: quizzes drawn, answers, marks with their feedback, hints, decisions
              and corrections of marks, with times in UTC
code/         the code handed in, in folders numbered as the attempts in person.json

Keys and worked solutions are not in it: they are about the questions, not about the person.
"""


def write_person(
    path: Path, student: str, listed: Mapping[str, str] | None, stored: Mapping[str, Any]
) -> int:
    """Write the archive and return how many files of code are in it; nobody else may read it.

    Parameters
    ----------
    path : Path
        Must not be there yet.
    student : str
    listed : mapping of str to str, optional
        What the roster says.
    stored : mapping
        As :meth:`engine.store.people.People.everything_on` returns it.

    Raises
    ------
    InputError
        A file of that name is there; it is left as it is.
    StoreError
        It can't be written.
    """
    if path.exists() or path.is_symlink():
        raise InputError("a file of that name is there", where=str(path), next_step="choose another name")
    code: dict[str, str] = {}
    handed_in = []
    for row in stored[attempts.name]:
        own = dict(_code(row))
        code |= own
        handed_in.append({k: v for k, v in row.items() if k not in ("source", "modules")} | {"code": [*own]})
    told = {"student": student, "written": datetime.now(UTC).isoformat(), "roster": listed, **stored}
    document = json.dumps(told | {attempts.name: handed_in}, ensure_ascii=False, indent=2)
    files = {"README.txt": _READ_ME.format(version=__version__), "person.json": document, **code}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text.encode("utf-8", "replace"))
    try:
        with replacing(path, private=True) as file:
            file.write(data.getvalue())
    except OSError as error:
        raise StoreError(
            "the archive can't be written",
            where=str(path),
            got=error.strerror or str(error),
            next_step="make room, or name a file in a folder that you may write to",
        ) from error
    return len(code)


def _code(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the code of an attempt: names that lead nowhere else, and texts."""
    folder = f"code/{row['id']:05d}-{re.sub('[^A-Za-z0-9_-]', '_', row['item'])}"
    if row["source"] is not None:
        yield f"{folder}/submission.py", row["source"]
    for number, (name, text) in enumerate(sorted((row["modules"] or {}).items()), start=1):
        plain = name if re.fullmatch("[A-Za-z_][A-Za-z0-9_]{0,60}", name) else f"module-{number}"
        yield f"{folder}/beside/{plain}.py", text
