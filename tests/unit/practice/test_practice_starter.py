"""Starter files: their text, and that nothing is lost by writing them."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from engine.errors import UsageError
from engine.intake.notebook import notebook_source
from engine.model import Part, RenderedText, Variant
from engine.practice.starter import starter_notebook, starter_source, write_starter

CODE = 'import numpy as np\n\n\ndef f(x):\n    """Return x."""\n    raise NotImplementedError\n'
STEM = (
    "Write f(x), which has a very long description that goes on and on until it has to be wrapped.\n"
    "    f(x) = a formula that stays in one line, however long it may be, because it is indented here ‖x‖\n"
    "\n"
    "- a list entry that is long enough to be wrapped as well, with its second line under its text\n"
)
COMMANDS = ("grade watch f f.py", "grade hint f")


def variant(points: float = 2) -> Variant:
    return Variant(
        "id", "f", "v", "Write f", RenderedText(STEM, STEM, STEM), (Part("answer", "code", points),)
    )


def test_the_statement_stands_above_the_starter_as_comments() -> None:
    text = starter_source(variant(), CODE, COMMANDS)
    head, code = text[: text.index("import")], text[text.index("import") :]
    assert code == CODE
    lines = head.rstrip().splitlines()
    assert all(line.startswith("#") and line == line.rstrip() for line in lines)
    assert lines[0] == "# Write f (2 points)"
    assert max(len(line) for line in lines if "formula" not in line) <= 79
    assert "#   under its text" in lines or any(line.startswith("#   ") for line in lines)
    # every word of the statement is there, in its order
    told = " ".join(" ".join(line.removeprefix("#").split()) for line in lines)
    assert " ".join(STEM.split()) in " ".join(told.split())
    assert lines[-2:] == ["#     grade watch f f.py", "#     grade hint f"]
    assert ast.get_docstring(ast.parse(text).body[1]) == "Return x."  # type: ignore[arg-type]


def test_one_point_is_no_points() -> None:
    assert starter_source(variant(1), CODE, ()).startswith("# Write f (1 point)\n")


def test_a_notebook_holds_the_statement_and_code_that_intake_reads() -> None:
    text = starter_notebook(variant(), "It is $x$.", CODE, COMMANDS)
    cells = json.loads(text)["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code", "markdown"]
    assert len({cell["id"] for cell in cells}) == 3
    assert "It is $x$." in "".join(cells[0]["source"])
    source = notebook_source(text, "f.ipynb")
    assert ast.dump(ast.parse(source)) == ast.dump(ast.parse(CODE))


def test_a_new_file_is_written_and_an_old_one_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    assert write_starter(path, "new ‖x‖\n") is None
    assert path.read_bytes() == "new ‖x‖\n".encode()
    path.write_text("mine")
    with pytest.raises(UsageError, match="nothing is overwritten"):
        write_starter(path, "new\n")
    assert path.read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["f.py"]


def test_force_keeps_every_old_file(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_bytes(b"first \xff")
    assert write_starter(path, "new\n", force=True) == tmp_path / "f.py.bak"
    path.write_text("second")
    assert write_starter(path, "new\n", force=True) == tmp_path / "f.py.bak2"
    assert (tmp_path / "f.py.bak").read_bytes() == b"first \xff"
    assert (tmp_path / "f.py.bak2").read_text() == "second"
    assert path.read_text() == "new\n"


def test_force_without_an_old_file_makes_no_copy(tmp_path: Path) -> None:
    assert write_starter(tmp_path / "f.py", "new\n", force=True) is None
    assert [p.name for p in tmp_path.iterdir()] == ["f.py"]


def test_force_writes_through_a_link_and_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "real.py").write_text("mine")
    link = tmp_path / "f.py"
    link.symlink_to("real.py")
    backup = write_starter(link, "new\n", force=True)
    assert backup is not None
    assert backup.read_text() == "mine"
    assert link.is_symlink()
    assert (tmp_path / "real.py").read_text() == "new\n"


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_or_a_dead_link_of_the_name_is_refused(tmp_path: Path, force: bool) -> None:
    (tmp_path / "f.py").mkdir()
    (tmp_path / "g.py").symlink_to("nowhere")
    for name in ("f.py", "g.py"):
        with pytest.raises(UsageError):
            write_starter(tmp_path / name, "new\n", force=force)
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="can't be written"):
        write_starter(tmp_path / "file" / "f.py", "new\n")
