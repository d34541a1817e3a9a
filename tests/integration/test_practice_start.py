"""``grade start``: a starter file, and never a lost file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def test_the_starter_bears_the_functions_name(grade) -> None:
    said = grade("start", "softmax")
    assert said.code == 0
    assert said.out.splitlines() == [
        "wrote softmax.py: Write softmax",
        "  grade it on every save:   grade watch softmax softmax.py",
        "  get the next hint:        grade hint softmax",
        "  grade it once:            grade submit softmax softmax.py",
    ]
    text = Path("softmax.py").read_text(encoding="utf-8")
    assert text.startswith("# Write softmax (10 points)\n")
    assert "#   numbers. The result has the same shape" in text
    assert "\ndef softmax(x, axis=-1):\n" in text


def test_a_starter_is_numpy_although_its_statement_speaks_of_torch(grade) -> None:
    grade("start", "softmax")
    text = Path("softmax.py").read_text(encoding="utf-8")
    assert "If your file imports torch anywhere" in text
    shifted = "    e = np.exp(x - x.max(axis=axis, keepdims=True))\n"
    body = shifted + "    return e / e.sum(axis=axis, keepdims=True)"
    assert '    raise NotImplementedError("write me")' in text
    Path("softmax.py").write_text(text.replace('    raise NotImplementedError("write me")', body))
    assert grade("submit", "softmax", "softmax.py").code == 0


def test_nothing_is_overwritten_unless_a_copy_is_made(grade) -> None:
    Path("softmax.py").write_text("mine")
    said = grade("start", "softmax")
    assert said.code == 2
    assert "nothing is overwritten" in said.err
    assert "--force" in said.err
    assert Path("softmax.py").read_text() == "mine"
    told = grade("start", "softmax", "--force", "--json").json()
    assert told["backup"] == "softmax.py.bak"
    assert told["file"] == "softmax.py"
    assert told["next"]["watch"] == "grade watch softmax softmax.py"
    assert Path("softmax.py.bak").read_text() == "mine"


def test_it_goes_where_it_is_told(grade) -> None:
    Path("week 3").mkdir()
    said = grade("start", "softmax", "--to", "week 3")
    assert "grade watch softmax 'week 3/softmax.py'" in said.out
    assert Path("week 3/softmax.py").is_file()
    assert grade("start", "softmax", "--to", "week 3/mine.py").code == 0
    assert grade("start", "softmax", "--to", "-mine.py").out.splitlines()[1].endswith("softmax ./-mine.py")


def test_a_notebook_is_written(grade) -> None:
    assert grade("start", "softmax", "--notebook").code == 0
    notebook = json.loads(Path("softmax.ipynb").read_text(encoding="utf-8"))
    assert "\\exp(x_j)" in "".join(notebook["cells"][0]["source"])
    assert "NotImplementedError" in "".join(notebook["cells"][1]["source"])
    assert grade("start", "softmax", "--to", "other.ipynb").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sofmax",), "did you mean softmax"),
        (("softmax-weights",), "grade submit softmax-weights --answer"),
        (("softmax", "--to", "nowhere/"), "there is no such folder"),
        (("softmax", "--to", "nowhere/mine.py"), "there is no such folder"),
        (("softmax", "--to", "a.txt"), "isn't a folder"),
        (("softmax", "--to", "a.txt/mine.py"), "isn't a folder"),
        (("softmax", "--to", "mine.py", "--notebook"), ".ipynb"),
        ((), "Missing argument"),
    ],
)
def test_bad_usage_is_told_with_the_way_out(grade, arguments: tuple[str, ...], words: str) -> None:
    Path("a.txt").write_text("x")
    said = grade("start", *arguments)
    assert said.code == 2
    assert words in said.err
    assert [p.name for p in Path().iterdir()] == ["a.txt"]


def test_a_folder_that_may_not_be_written_to_is_told(grade, monkeypatch: pytest.MonkeyPatch) -> None:
    # the tests may run as root, whom no mode of a folder stops
    def refuse(self: Path, *args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    import engine.practice.starter as starter

    monkeypatch.setattr(starter, "_write_new", refuse)
    said = grade("start", "softmax")
    assert said.code == 2
    assert "Permission denied" in said.err
    assert "--to FOLDER" in said.err


IMPORTS = "Your file may import the standard library, numpy, torch, and .py files that you hand in beside it."


def unwrapped(text: str) -> str:
    return " ".join(line.removeprefix("#").strip() for line in text.splitlines())


def test_each_statement_says_what_may_be_imported(grade) -> None:
    grade("start", "softmax")
    grade("start", "sdpa", "--notebook")
    shown = grade("show", "beam-search").out
    html = grade("show", "beam-search", "--format", "html").out
    starter = Path("softmax.py").read_text(encoding="utf-8")
    cells = json.loads(Path("sdpa.ipynb").read_text(encoding="utf-8"))["cells"]
    for text in (starter, shown, html, "".join(cells[0]["source"])):
        said = unwrapped(text).replace("<code>", "").replace("</code>", "").replace("`", "")
        assert IMPORTS in said
        assert "einops, jaxtyping, pandas and scipy may be imported, too" in said


def test_a_course_that_offers_other_packages_says_so(grade) -> None:
    grade("init", "course")
    settings = Path("course", "course.yaml")
    for packages, told in (
        ("[scipy, einops]", "scipy and einops may be imported, too, if installed where it is graded."),
        ("[pandas]", "pandas may be imported, too, if installed where it is graded."),
        ("[]", IMPORTS),
    ):
        text = settings.read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if not line.startswith("packages:")]
        settings.write_text("\n".join([*lines, f"packages: {packages}", ""]), encoding="utf-8")
        said = unwrapped(grade("show", "softmax", "--course", "course").out)
        assert f"{IMPORTS} {told}".replace(f"{IMPORTS} {IMPORTS}", IMPORTS) in said
        assert ("may be imported, too" in said) is (packages != "[]")
