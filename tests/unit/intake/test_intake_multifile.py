"""Submissions of several files: what belongs to one, which file is the main one, what is refused."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from engine.errors import SubmissionError
from engine.hand_ins import IntakeResult
from engine.intake import collect, read_code_file, read_submission
from engine.intake.code_files import definition_line
from engine.model import CodeSubmission

ITEMS = ("softmax", "masked-softmax", "attention")
MAIN = "from helpers import shift\n\ndef softmax(x, axis=-1):\n    return shift(x)\n"
HELPERS = "def shift(x):\n    return x\n"


def tree(root: Path, **files: str | bytes) -> Path:
    return place(root, {name.replace("__", "."): data for name, data in files.items()})


def place(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    return root


def notebook(*cells: str) -> str:
    made = [
        {"cell_type": "code", "source": cell, "outputs": [{"text": "def softmax(x): 0"}]} for cell in cells
    ]
    return json.dumps({"cells": made})


def refused(path: Path, function: str = "softmax") -> SubmissionError:
    with pytest.raises(SubmissionError) as caught:
        read_submission(path, function)
    return caught.value


# --- a file and what it imports ---


def test_a_file_brings_along_what_it_imports_and_nothing_else(tmp_path: Path) -> None:
    tree(
        tmp_path,
        softmax__py=MAIN,
        helpers__py="import numpy as np\nfrom .tables import T\n" + HELPERS,
        tables__py="T = 1\n",
        unrelated__py="raise SystemExit\n",
        notes__txt="x",
    )
    submission = read_code_file(tmp_path / "softmax.py")
    assert submission.source == MAIN and submission.notes == ()
    assert list(submission.modules) == ["helpers", "tables"]
    assert submission.modules["tables"] == "T = 1\n"
    with pytest.raises(TypeError):
        submission.modules["x"] = ""  # type: ignore[index]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import helpers, tables as t", ["helpers", "tables"]),
        ("from . import helpers, tables", ["helpers", "tables"]),
        ("from helpers.deep import x", ["helpers"]),
        ("def softmax(x):\n    from helpers import shift\n    return shift(x)", ["helpers"]),
        ("import importlib\nh = importlib.import_module('helpers')", ["helpers"]),
        ("try:\n    import helpers\nexcept ImportError:\n    import tables", ["helpers", "tables"]),
        ("import importlib\nh = importlib.import_module('../helpers')", []),
        ("from .. import helpers", []),
        ("# import helpers\nx = 'import tables'", []),
        ("def softmax(:\n  import helpers", []),
    ],
)
def test_which_imports_count(tmp_path: Path, source: str, names: list[str]) -> None:
    tree(tmp_path, softmax__py=source, helpers__py=HELPERS, tables__py="T = 1\n")
    assert list(read_code_file(tmp_path / "softmax.py").modules) == names


def test_the_hash_covers_every_file_that_counts_and_no_other(tmp_path: Path) -> None:
    path = tree(tmp_path, softmax__py=MAIN) / "softmax.py"
    seen = {hashlib.sha256(MAIN.encode()).hexdigest()}
    assert read_code_file(path).sha256 in seen  # a lone file has the hash of its bytes
    tree(tmp_path, unrelated__py="x = 1\n")
    assert read_code_file(path).sha256 in seen
    for helpers in (HELPERS, HELPERS + "# changed\n"):
        tree(tmp_path, helpers__py=helpers)
        sha256 = read_code_file(path).sha256
        assert sha256 not in seen and sha256 == read_code_file(path).sha256
        seen.add(sha256)


def test_a_file_of_a_librarys_name_is_ignored_with_a_note(tmp_path: Path) -> None:
    source = "import torch, random, numpy\nimport helpers\n"
    fake = "import unrelated\nraise SystemExit\n"
    tree(tmp_path, softmax__py=source, helpers__py=HELPERS, unrelated__py="", math__py=fake)
    tree(tmp_path, **{f"{name}__py": fake for name in ("torch", "random", "numpy")})
    submission = read_code_file(tmp_path / "softmax.py")
    assert list(submission.modules) == ["helpers"]
    assert submission.notes == tuple(
        f"{name}.py was ignored: {name} is the name of a library, and the real library was used."
        for name in ("torch", "random", "numpy")
    )


def test_a_helper_that_imports_the_submission_gets_the_submission(tmp_path: Path) -> None:
    tree(tmp_path, softmax__py=MAIN, helpers__py="import softmax\n" + HELPERS)
    submission = read_code_file(tmp_path / "softmax.py")
    assert submission.modules["softmax"] == submission.source == MAIN


@pytest.mark.parametrize(
    ("data", "what", "where"),
    [
        (b"x = 'caf\xe9'\n", "isn't valid UTF-8", "helpers.py:1:9"),
        (b"", "is empty", "helpers.py"),
        (b"PK\x03\x04", "ZIP archive", "helpers.py:1:1"),
        (b"x" * (2**20 + 1), "too large", "helpers.py"),
    ],
)
def test_a_helper_that_cant_be_read_is_named(tmp_path: Path, data: bytes, what: str, where: str) -> None:
    tree(tmp_path, softmax__py=MAIN, helpers__py=data)
    error = refused(tmp_path / "softmax.py")
    assert what in error.what and "the submission imports it" in error.what
    assert error.where == where


def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = tree(tmp_path / "elsewhere", secret__py="KEY = 'abc'\n") / "secret.py"
    tree(tmp_path / "in", softmax__py=MAIN)
    (tmp_path / "in" / "helpers.py").symlink_to(secret)
    error = refused(tmp_path / "in" / "softmax.py")
    assert error.what == "this is a link; links are not followed" and error.where == "helpers.py"


def test_all_files_together_have_one_limit(tmp_path: Path) -> None:
    half = "#" * (128 * 1024) + "\n"
    tree(tmp_path, softmax__py=MAIN + half, helpers__py=HELPERS + half)
    error = refused(tmp_path / "softmax.py")
    assert error.what == "the files of the submission are too large together"
    assert error.where == "softmax.py, helpers.py" and error.expected == "at most 262144 characters"
    chain = {f"m{n}.py": f"import m{n + 1}\n" for n in range(150)}
    place(tmp_path / "many", {"softmax.py": "import m0\n", **chain})
    assert "too many files" in refused(tmp_path / "many" / "softmax.py").what


def test_with_a_name_only_what_is_given_counts(tmp_path: Path) -> None:
    tree(tmp_path, softmax__py=MAIN, helpers__py="raise SystemExit  # another student's\n")
    own = tree(tmp_path / "own", x__py=HELPERS) / "x.py"
    path = tmp_path / "softmax.py"
    assert dict(read_code_file(path, "ada/softmax.py").modules) == {}
    given = read_code_file(path, "ada/softmax.py", {"helpers": own})
    assert dict(given.modules) == {"helpers": HELPERS}


def test_a_notebook_brings_its_helpers_along(tmp_path: Path) -> None:
    cells = (
        "%matplotlib inline\n!pip install numpy\nfrom helpers import shift",
        "def softmax(x):\n    return 1",
    )
    tree(tmp_path, work__ipynb=notebook(*cells), helpers__py=HELPERS)
    submission = read_submission(tmp_path, "softmax")
    assert submission.filename == "work.ipynb" and dict(submission.modules) == {"helpers": HELPERS}
    assert "def softmax(x): 0" not in submission.source


# --- a folder: which file is the submission ---


def test_the_file_that_defines_the_function_is_the_submission(tmp_path: Path) -> None:
    tree(tmp_path, anything__py=MAIN, helpers__py=HELPERS, main__py="from anything import softmax\n")
    submission = read_submission(tmp_path, "softmax")
    assert (submission.filename, list(submission.modules)) == ("anything.py", ["helpers"])
    assert read_submission(tmp_path / "anything.py", "softmax") == submission


def test_two_files_that_define_it_are_named_with_their_lines(tmp_path: Path) -> None:
    tree(
        tmp_path, a__py=MAIN, b__ipynb=notebook("import math", "x = 1\nsoftmax = lambda x: x"), c__py=HELPERS
    )
    error = refused(tmp_path)
    assert error.what == "two files define softmax"
    assert error.got == "a.py:3, b.ipynb, code cell 2, line 2"
    assert error.next_step is not None and error.next_step.endswith("a.py")
    tree(tmp_path, d__py="class softmax: pass\n")
    assert refused(tmp_path).what == "3 files define softmax"
    assert read_submission(tmp_path / "a.py", "softmax").source == MAIN  # a file that is given counts


def test_a_folder_without_the_function_says_what_it_holds(tmp_path: Path) -> None:
    tree(tmp_path, helpers__py=HELPERS, other__py="def f():\n    def softmax(x): return x\n", notes__txt="x")
    error = refused(tmp_path)
    assert error.what == "no file in this folder defines softmax"
    assert error.got == "helpers.py, other.py"
    (tmp_path / "empty").mkdir()
    assert refused(tmp_path / "empty").got == "no .py or .ipynb file"
    assert "no such file" in refused(tmp_path / "nowhere").what
    place(tmp_path / "many", {f"f{n}.py": "x = 1\n" for n in range(201)})
    assert refused(tmp_path / "many").got == "201"


def test_files_that_cant_be_read_dont_stop_the_search(tmp_path: Path) -> None:
    tree(tmp_path, softmax__py=MAIN, latin__py=b"# caf\xe9\n", broken__ipynb="{", helpers__py=HELPERS)
    assert read_submission(tmp_path, "softmax").filename == "softmax.py"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def softmax(x): 0\n\ndef softmax(x): 1\n", 3),
        ("async def softmax(x): 0\n", 1),
        ("class softmax: pass\n", 1),
        ("softmax = lambda x: x\n", 1),
        ("softmax: object = abs\n", 1),
        ("try:\n    import torch\n    def softmax(x): 0\nexcept ImportError:\n    pass\n", 3),
        ("softmax: object\n", None),
        ("from a import softmax\n", None),
        ("def other():\n    softmax = 1\n", None),
        ("x = [softmax for softmax in range(3)]\n", None),
        ("def softmax(x):\n    return (\n\n", 1),
        ("x = (\ny = 1\n", None),
        ("\0", None),
    ],
)
def test_what_defines_a_function(source: str, line: int | None) -> None:
    assert definition_line(source, "softmax") == line


# --- a class ---


def of(intake: IntakeResult, student: str) -> list[tuple[str | None, str, list[str]]]:
    files = next(s for s in intake.students if s.student == student).files
    return sorted((f.item, f.name.partition("/")[2], [name for name, _ in f.beside]) for f in files)  # type: ignore[type-var]


def take(
    tmp_path: Path, kind: str, files: dict[str, str | bytes], only_item: str | None = None
) -> tuple[IntakeResult, dict[str, str]]:
    (work := tmp_path / "work").mkdir()
    if kind == "zip":
        with zipfile.ZipFile(tmp_path / "in.zip", "w") as made:
            for name, data in files.items():
                made.writestr(name, data)
    path = tmp_path / "in.zip" if kind == "zip" else place(tmp_path / "in", files)
    intake = collect(path, work, items=ITEMS, only_item=only_item)
    return intake, {problem.where: problem.message for problem in intake.problems}


def submissions(intake: IntakeResult) -> dict[str, CodeSubmission]:
    return {
        file.name: read_code_file(file.path, file.name, dict(file.beside) if file.beside else None)
        for student in intake.students
        for file in student.files
    }


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_helpers_in_a_students_folder_belong_to_what_imports_them(tmp_path: Path, kind: str) -> None:
    files: dict[str, str | bytes] = {
        "ada/softmax.py": MAIN,
        "ada/helpers.py": HELPERS,
        "ada/leftover.py": "x = 1\n",
        "ada/torch.py": "raise SystemExit\n",
        "bob/softmax.py": "import torch\n" + MAIN,
        "bob/helpers.py": HELPERS + "# bob\n",
        "bob/torch.py": "raise SystemExit\n",
        "eve/softmax.py": MAIN,
    }
    intake, problems = take(tmp_path, kind, files)
    assert of(intake, "ada") == [("softmax", "softmax.py", ["helpers"])]
    assert of(intake, "bob") == [("softmax", "softmax.py", ["torch", "helpers"])]
    assert of(intake, "eve") == [("softmax", "softmax.py", [])]
    assert set(problems) == {"ada/leftover.py", "ada/torch.py"}
    read = submissions(intake)
    assert read["ada/softmax.py"].modules["helpers"] == HELPERS
    assert read["bob/softmax.py"].modules["helpers"] == HELPERS + "# bob\n"
    assert len(read["bob/softmax.py"].notes) == 1
    hashes = {file.name: file.sha256 for student in intake.students for file in student.files}
    assert {name: submission.sha256 for name, submission in read.items()} == hashes
    assert len(set(hashes.values())) == 3


def test_lone_files_share_nothing(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"ada_softmax.py": MAIN, "bob_softmax.py": MAIN, "helpers.py": "x = 1\n"}
    intake, problems = take(tmp_path, "folder", files)
    assert [file.beside for student in intake.students for file in student.files] == [(), ()]
    assert set(problems) == {"helpers.py"}


def test_files_of_other_names_are_known_by_what_they_define(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "ada/everything.ipynb": notebook("def softmax(x): return 1", "def masked_softmax(x, m): return 2"),
        "bob/solution.py": MAIN,
        "bob/helpers.py": HELPERS + "def masked_softmax(x, m): return 2\n",
        "eve/softmax.py": MAIN,
        "eve/helpers.py": HELPERS + "def softmax(x): return 'of no interest'\n",
        "kim/main.py": "from impl import softmax\n",
        "kim/impl.py": MAIN,
    }
    intake, problems = take(tmp_path, "folder", files)
    assert of(intake, "ada") == [
        ("masked-softmax", "everything.ipynb", []),
        ("softmax", "everything.ipynb", []),
    ]
    assert ("softmax", "solution.py", ["helpers"]) in of(intake, "bob")
    assert of(intake, "eve") == [("softmax", "softmax.py", ["helpers"])]
    assert of(intake, "kim") == [("softmax", "impl.py", [])]
    assert set(problems) == {"kim/main.py"}


@pytest.mark.parametrize("only_item", [None, "softmax"])
def test_two_files_that_define_one_function_are_both_named(tmp_path: Path, only_item: str | None) -> None:
    files: dict[str, str | bytes] = {
        "ada/one.py": MAIN,
        "ada/two.py": "# 2\n" + MAIN,
        "ada/helpers.py": HELPERS,
    }
    intake, problems = take(tmp_path, "folder", files, only_item)
    assert of(intake, "ada") == []
    told = "two files define softmax: one.py:3 and two.py:4"
    assert problems["ada/one.py"] == problems["ada/two.py"] == told
    assert {problem.next_step for problem in intake.problems} >= {"name the one that counts softmax.py"}


def test_with_one_item_for_all_a_helper_is_no_hand_in(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "ada/solution.py": MAIN,
        "ada/helpers.py": HELPERS,
        "bob/hopeless.py": "x = 1\n",
        "eve/a.py": "x = 1\n",
        "eve/b.py": "y = 1\n",
    }
    intake, problems = take(tmp_path, "folder", files, "softmax")
    assert of(intake, "ada") == [("softmax", "solution.py", ["helpers"])]
    assert of(intake, "bob") == [("softmax", "hopeless.py", [])]
    assert of(intake, "eve") == [("softmax", "a.py", []), ("softmax", "b.py", [])]
    assert problems == {}
