"""Small files that were made to be slow are read in linear time, or refused at once, in little memory."""

from __future__ import annotations

import contextlib
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Refused within 2 s of one core that nothing else uses; caches and siblings of a busy one cost as much again.
LIMIT_S = 4.0
LIMIT_MIB = 200
MOST_BYTES = 20_000_000
ROOT = Path(__file__).parents[2]

SHEET = (
    b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    b'<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c><c r="B1"><v>1</v></c></row>'
)
END = b"</sheetData></worksheet>"
CHOICE = b'<quiz><question type="multichoice"><name><text>n</text></name><questiontext><text>'


def workbook(rows: bytes, other: str = "", data: bytes = b"") -> bytes:
    from openpyxl import Workbook

    plain, out = io.BytesIO(), io.BytesIO()
    Workbook().save(plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name in source.namelist():
            content = SHEET + rows + END if "sheet1" in name else source.read(name)
            made.writestr(name, data if other and other in name else content)
    return out.getvalue()


def far_rows() -> bytes:
    return b"".join(b'<row r="%d"><c r="ALL%d"><v>1</v></c></row>' % (n, n) for n in range(2, 40_000))


def pax() -> bytes:
    import tarfile

    out = io.BytesIO()
    records = b"5 a=\n" * 13_000
    for _ in range(280):
        info = tarfile.TarInfo("pax")
        info.type, info.size = b"x", len(records)
        out.write(info.tobuf() + records + b"\0" * (-len(records) % 512))
    return out.getvalue()


# a harmless file of each kind, so that what it needs is imported
SMALL = {
    ".csv": {"a.csv": b"id,1\na,b\n", "roster.csv": b"id,name\na,b\n"},
    ".gift": {"q.gift": b"q {T}\n"},
    ".xml": {"q.xml": b"<quiz/>"},
    ".tar": {"a.tar": b""},
    ".ipynb": {"a.ipynb": b'{"cells":[]}'},
    ".xlsx": {"a.xlsx": b"PK"},
}
DOUBLED = "{% set a = 'ab' %}" + "{% set a = a + a %}" * 40 + "{{ a }}"
# name → the file's name (a template has none) and its bytes
FILES: dict[str, Callable[[], tuple[str, bytes]]] = {
    "a row far below": lambda: ("a.xlsx", workbook(b'<row r="1048576"><c r="A1048576"><v>1</v></c></row>')),
    "empty rows": lambda: ("a.xlsx", workbook(b"<row/>" * 2_000_000)),
    "empty cells": lambda: ("a.xlsx", workbook(b'<row r="2">' + b"<c/>" * 8_000_000 + b"</row>")),
    "cells far to the right": lambda: ("a.xlsx", workbook(far_rows())),
    "styles": lambda: (
        "a.xlsx",
        workbook(b"", "styles", b"<styleSheet>" + b"<xf/>" * 500_000 + b"</styleSheet>"),
    ),
    "a million columns": lambda: ("a.csv", b"id" + b",a" * 1_000_000 + b"\nada" + b",b" * 1_000_000),
    "a million rows": lambda: ("a.csv", b"id,1\n" + b"a,b\n" * 1_900_000),
    "quotation marks": lambda: ("a.csv", b"id,1\n" + b'"\n' * 3_000_000),
    "a roster of a million": lambda: ("roster.csv", b"id,name\n" + b"x,a\n" * 1_900_000),
    "questions": lambda: ("q.xml", b"<quiz>" + b"<question/>" * 490_000 + b"</quiz>"),
    "other elements": lambda: ("q.xml", b"<quiz>" + b"<x/>" * 490_000 + b"</quiz>"),
    "elements in elements": lambda: ("q.xml", b"<quiz>" + b"<a>" * 400_000),
    "attributes": lambda: ("q.xml", b"<quiz " + b" ".join(b'a%d="1"' % n for n in range(10**6)) + b"/>"),
    "tags of html": lambda: ("q.xml", CHOICE + b"<![CDATA[" + b"<b>" * 10**6 + b"]]></text></questiontext>"),
    "lines of gift": lambda: ("q.gift", b"a\n" * 2_000_000),
    "answers of gift": lambda: ("q.gift", b"q {\n" + b"~a\n" * 90_000 + b"}\n"),
    "questions of gift": lambda: ("q.gift", b"a\n\n" * 600_000),
    "tags of gift": lambda: ("q.gift", b"// [tag:a]\n" * 90_000 + b"q {T}\n"),
    "pax headers": lambda: ("ada.tar", pax()),
    "blanks in a notebook": lambda: (
        "a.ipynb",
        json.dumps({"cells": [{"cell_type": "code", "source": "x = 1" + " " * 900_000 + "\\"}]}).encode(),
    ),
    "cells of a notebook": lambda: (
        "a.ipynb",
        b'{"cells":[' + b",".join([b'{"cell_type":"code","source":"x"}'] * 300_000) + b"]}",
    ),
    "a text times a billion": lambda: ("", b"{{ 'a'*10**9 }}"),
    "a list times a billion": lambda: ("", b"{{ [1]*10**9 }}"),
    "a text doubled": lambda: ("", DOUBLED.encode()),
    "a text joined to itself": lambda: ("", DOUBLED.replace("+", "~").encode()),
    "a power of powers": lambda: ("", b"{{ ((9**64)**64)**64 }}"),
    "a long join": lambda: ("", ("{{ range(64)|join('" + "x" * 10_000 + "') }}").encode()),
    "loops in loops": lambda: ("", b"{% for i in range(64) %}" * 9 + b"x" + b"{% endfor %}" * 9),
}


def read(name: str, data: bytes, folder: Path) -> None:
    """Read a file as the product does."""
    from engine.authoring.importing.import_file import import_file
    from engine.course.roster import read_roster
    from engine.intake import read_code_file
    from engine.intake.answer_rows import read_table
    from engine.intake.unpack import read_source
    from engine.items.bank import builtin_bank
    from engine.prose.stems import fill_template, parse_template

    if not name:
        from jinja2 import meta

        meta.find_undeclared_variables(parse_template(data.decode()))
        fill_template(data.decode(), {})
        return
    path = folder / name
    path.write_bytes(data)
    if name == "roster.csv":
        read_roster(path)
    elif name.endswith((".xml", ".gift")):
        import_file(path, folder / "out", builtin_bank())
    elif name.endswith(".tar"):
        (folder / "work").mkdir()
        read_source(path, folder / "work")
    elif name.endswith(".ipynb"):
        read_code_file(path)
    else:
        read_table(path, name)


def measure(name: str, path: Path) -> dict[str, Any]:
    """Read a file in this process; return what that took beyond what was there before."""
    data = path.read_bytes()
    with tempfile.TemporaryDirectory() as warm:  # everything is imported before anything is measured
        for small, content in SMALL.get(Path(name).suffix, {"": b"{{ 1 }}"}).items():
            with contextlib.suppress(SoftmarkError, ValueError):
                read(small, content, Path(warm))
    begun, had = time.process_time(), memory("VmRSS")
    said = ""
    with tempfile.TemporaryDirectory() as folder:
        try:
            read(name, data, Path(folder))
        except (SoftmarkError, ValueError) as error:
            said = str(error)
    return {"said": said[:300], "seconds": time.process_time() - begun, "mib": memory("VmHWM") - had}


def memory(kind: str) -> float:
    """Return what this process has (``VmRSS``), or had at most (``VmHWM``), in MiB."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(kind))
    return int(line.split()[1]) / 1024


@pytest.mark.parametrize("kind", FILES)
def test_a_small_file_costs_little(tmp_path: Path, kind: str) -> None:
    name, data = FILES[kind]()
    path = tmp_path / "small"
    path.write_bytes(data)
    assert len(data) < MOST_BYTES
    run = subprocess.run(
        [sys.executable, __file__, name, path], capture_output=True, text=True, cwd=ROOT, timeout=300
    )
    assert run.returncode == 0, f"neither read nor refused in words: {run.stderr[-2000:]}"
    cost = json.loads(run.stdout)
    assert cost["seconds"] < LIMIT_S and cost["mib"] < LIMIT_MIB, cost


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    sys.path.insert(0, str(ROOT))
    from engine.errors import SoftmarkError

    sys.stdout.write(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))) + "\n")
