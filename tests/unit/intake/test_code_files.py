"""Every file that can't be read gets one clear message; what can be read comes out unchanged."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import QuizError, SubmissionError
from engine.intake import read_code_file
from engine.text.files import decode, read_hand_in, read_text

SOURCE = "import numpy as np\n\ndef softmax(x, axis=-1):\n    return 'ßα'\n"


def write(tmp_path: Path, data: bytes | str, name: str = "softmax.py") -> Path:
    path = tmp_path / name
    path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    return path


def refused(path: Path) -> SubmissionError:
    with pytest.raises(SubmissionError) as caught:
        read_code_file(path)
    assert len(caught.value.what) < 120 and "Traceback" not in str(caught.value)
    return caught.value


def test_a_file_is_read_with_its_hash(tmp_path: Path) -> None:
    submission = read_code_file(write(tmp_path, SOURCE))
    assert submission.source == SOURCE
    assert submission.filename == "softmax.py"
    assert submission.sha256 == hashlib.sha256(SOURCE.encode("utf-8")).hexdigest()


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf" + SOURCE.encode(), SOURCE.replace("\n", "\r\n").encode()])
def test_a_bom_and_windows_line_ends_change_nothing(tmp_path: Path, data: bytes) -> None:
    assert read_code_file(write(tmp_path, data)).source == SOURCE


def test_source_that_is_no_python_is_read_all_the_same(tmp_path: Path) -> None:
    assert read_code_file(write(tmp_path, "def softmax(:\n")).source == "def softmax(:\n"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"PK\x03\x04rest", "ZIP archive"),
        (b"%PDF-1.7 rest", "PDF"),
        (b"\x7fELF\x02\x01", "a program"),
        (SOURCE.encode("utf-16"), "UTF-16"),
        (SOURCE.encode("utf-16-le"), "UTF-16"),
        (SOURCE.encode("utf-32"), "UTF-32"),
        (bytes(1000), "NUL"),
        ("x = 'café'\n".encode("cp1252"), "isn't valid UTF-8"),
        (b"x = 1\n\x00\n", "NUL"),
        (bytes(range(1, 256)), "isn't valid UTF-8"),
        (b"x" * (2**20 + 1), "too large"),
    ],
)
def test_files_that_cant_be_read(tmp_path: Path, data: bytes, what: str) -> None:
    import re

    error = refused(write(tmp_path, data))
    assert re.search(what, error.what)
    assert error.exit_code == 2


def test_the_place_of_a_bad_byte_is_named(tmp_path: Path) -> None:
    error = refused(write(tmp_path, "x = 1\n\ny = 'é'\n".encode("cp1252")))
    assert error.where == "softmax.py:3:6"
    assert "0xe9" in str(error.got) and "UTF-8" in str(error.next_step)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "none.py").what
    assert "folder" in refused(tmp_path).what
    assert "can't be read" in refused(Path("a\0b.py")).what
    assert "kind of file" in refused(write(tmp_path, "x", "softmax.docx")).what


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_or_device_doesnt_hang_the_grader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "softmax.py")
    assert "isn't a regular file" in refused(tmp_path / "softmax.py").what
    link = tmp_path / "zero.py"
    link.symlink_to("/dev/zero")
    assert "isn't a regular file" in refused(link).what


def test_hostile_names_are_cleaned_in_messages(tmp_path: Path) -> None:
    path = write(tmp_path, b"", "a\x1b[31m\u202e.py")
    assert "\x1b" not in str(refused(path)) and "\u202e" not in str(refused(path))


# --- coding cookies ---


def test_a_coding_cookie_is_honoured(tmp_path: Path) -> None:
    text = "#!/usr/bin/env python\n# -*- coding: cp1252 -*-\nx = 'café'\n"
    assert read_code_file(write(tmp_path, text.encode("cp1252"))).source == text


@pytest.mark.parametrize(
    "codec", ["rot13", "unicode_escape", "utf-7", "idna", "zlib", "nonsense", "raw_unicode_escape"]
)
def test_cookies_that_would_make_other_code_are_refused(tmp_path: Path, codec: str) -> None:
    error = refused(write(tmp_path, f"# coding: {codec}\nx = 1\n"))
    assert codec in error.what


def test_a_cookie_counts_in_the_first_two_lines_of_comments_only(tmp_path: Path) -> None:
    for text in ("x = 1\n# coding: rot13\n", "\n\n# coding: rot13\nx = 1\n"):
        assert read_code_file(write(tmp_path, text)).source == text


@given(st.binary(max_size=200))
def test_decoding_never_fails_otherwise(data: bytes) -> None:
    for cookie in (False, True):
        try:
            text = decode(data, "here", cookie=cookie)
        except SubmissionError:
            continue
        assert "\0" not in text and "\r" not in text
        text.encode("utf-8")


def test_text_files_raise_the_error_that_was_asked_for(tmp_path: Path) -> None:
    assert read_hand_in(write(tmp_path, "quiz: 1\n", "q.yaml")) == "quiz: 1\n"
    with pytest.raises(QuizError, match="too large"):
        read_text(write(tmp_path, "quiz: 1\n", "q.yaml"), QuizError, limit=3)
    with pytest.raises(SubmissionError, match="UTF-16"):
        read_hand_in(write(tmp_path, b"\xff\xfeq\0\x3a", "q.yaml"))


# --- notebooks ---


def notebook(*cells: object, **more: object) -> str:
    made = [
        {"cell_type": "code", "source": c, "outputs": []} if isinstance(c, (str, list)) else c for c in cells
    ]
    return json.dumps({"cells": made, "nbformat": 4, "nbformat_minor": 5, "metadata": {}} | more)


def code_of(tmp_path: Path, *cells: object, **more: object) -> str:
    return read_code_file(write(tmp_path, notebook(*cells, **more), "softmax.ipynb")).source


def test_code_cells_are_joined_and_nothing_else(tmp_path: Path) -> None:
    text = {"cell_type": "markdown", "source": "def evil(): pass"}
    printed = {"cell_type": "code", "source": ["x = 1\n", "y = 2"], "outputs": [{"text": "z = 3"}]}
    assert code_of(
        tmp_path, text, printed, {"cell_type": "raw", "source": "w"}, "def f():\n    return x"
    ) == ("# --- code cell 1 ---\nx = 1\ny = 2\n# --- code cell 2 ---\ndef f():\n    return x\n")


@pytest.mark.parametrize(
    ("cell", "kept"),
    [
        ("%matplotlib inline\nx = 1", "\nx = 1"),
        ("!pip install numpy\nx = 1", "\nx = 1"),
        ("!pip install \\\n   numpy\nx = 1", "\n\nx = 1"),
        ("files = !ls\nt = %timeit -o f()\nx = 1", "\n\nx = 1"),
        ("softmax?\n?softmax\nnp.exp??\nx = 1", "\n\n\nx = 1"),
        ("%%time\nx = 1", "\nx = 1"),
        ("%%bash\nrm -rf /\nx = 1", "\n\n"),
        ("%%writefile a.py\nx = 1", "\n"),
        ("\n%%html\n<b>", "\n\n"),
        ("if True:\n    !ls\nx = 1", "if True:\n    pass\nx = 1"),
        # The same signs inside Python stay.
        ("x = (7\n  % 4)", "x = (7\n  % 4)"),
        ("x = 7 \\\n% 4", "x = 7 \\\n% 4"),
        ('t = """\n%time\n!ls\n"""', 't = """\n%time\n!ls\n"""'),
        ("t = '''\n!x \\'''\n%y\n'''", "t = '''\n!x \\'''\n%y\n'''"),
        ("x = '(' # (\n%time f()", "x = '(' # (\n"),
        ("x = [\n1, # ]\n]\n%y", "x = [\n1, # ]\n]\n"),
        ("a = b = '%d' % 3\nassert a != b", "a = b = '%d' % 3\nassert a != b"),
    ],
)
def test_magics_are_blanked_and_line_numbers_stay(tmp_path: Path, cell: str, kept: str) -> None:
    source = code_of(tmp_path, cell, "z = 1")
    assert source == f"# --- code cell 1 ---\n{kept}\n# --- code cell 2 ---\nz = 1\n"
    assert source.count("\n") == cell.count("\n") + 4


@pytest.mark.parametrize(
    ("cell", "line", "shown"),
    [
        ("x == !y", 1, "x == !y"),
        ("x = 'unfinished\n%time f()\ny = 1", 1, "x = 'unfinished"),
        ("%matplotlib inline\n\ndef f(x)\n    return x", 3, "def f(x)"),
        ("def f():\nreturn 1", 2, "return 1"),
    ],
)
def test_a_cell_that_python_cant_read_is_named_with_its_line(
    tmp_path: Path, cell: str, line: int, shown: str
) -> None:
    markdown = {"cell_type": "markdown", "source": "a heading"}
    error = refused(write(tmp_path, notebook("import math", markdown, cell, "z = 1"), "softmax.ipynb"))
    assert error.what.startswith(f"Python can't read line {line} of code cell 2: ")
    assert error.where == "softmax.ipynb" and error.got == shown


def test_old_notebooks_are_read(tmp_path: Path) -> None:
    old = {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"]}]}]}
    assert "x = 1" in read_code_file(write(tmp_path, json.dumps(old), "a.ipynb")).source


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "isn't valid JSON"),
        ("not json at all", "isn't valid JSON"),
        ("[" * 100_000, "isn't valid JSON"),
        ("[1]", "isn't a Jupyter notebook"),
        ("{}", "isn't a Jupyter notebook"),
        ('{"cells": 3}', "isn't a Jupyter notebook"),
        ('{"cells": []}', "no code"),
        ('{"cells": [null, 3, {"cell_type": "markdown", "source": "x"}]}', "no code"),
        ('{"cells": [{"cell_type": "code", "source": "  \\n"}]}', "no code"),
        ('{"cells": [{"cell_type": "code", "source": "%%bash\\nls"}]}', "no code"),
        ('{"cells": [{"cell_type": "code", "source": 3}]}', "damaged"),
        ('{"cells": [{"cell_type": "code"}]}', "damaged"),
        ('{"cells": [{"cell_type": "code", "source": ["x", 3]}]}', "damaged"),
        ('{"cells": [{"cell_type": "code", "source": "x\\u0000"}]}', "damaged"),
        ('{"cells": [{"cell_type": "code", "source": "x\\ud800"}]}', "damaged"),
        (
            '{"cells": [], "metadata": {"kernelspec": {"language": "R"}}}',
            "Python",
        ),
        ('{"worksheets": [3, {"cells": null}]}', "no code"),
    ],
)
def test_notebooks_that_cant_be_read(tmp_path: Path, text: str, what: str) -> None:
    assert what in refused(write(tmp_path, text, "softmax.ipynb")).what


def test_pictures_in_a_notebook_dont_count_but_code_does(tmp_path: Path) -> None:
    picture = {"cell_type": "code", "source": "x = 1", "outputs": [{"data": "A" * 2**21}]}
    assert "x = 1" in code_of(tmp_path, picture)
    assert "too large" in refused(write(tmp_path, notebook("x" * 2**20), "a.ipynb")).what
    path = tmp_path / "huge.ipynb"
    with path.open("wb") as file:
        file.truncate(17 * 2**20)
    assert "too large" in refused(path).what


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5) | st.just("code"),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["cells", "cell_type", "source", "metadata", "worksheets"]), inner, max_size=3
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_gives_code_or_one_message(value: object) -> None:
    from engine.intake.notebook import notebook_source

    with contextlib.suppress(SubmissionError):
        assert isinstance(notebook_source(json.dumps(value), "here"), str)
