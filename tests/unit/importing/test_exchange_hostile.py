"""Files that want more than to be read: nothing is overwritten, nothing leaves the folder, nothing runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.authoring.importing import item_drafts as write
from engine.authoring.importing.import_file import import_file
from engine.errors import ExchangeError
from engine.items import builtin_bank, load_spec
from engine.text.yaml import read_yaml
from engine.variants import draw_seeded
from tests.unit.importing.files_read import Importing

BANK = builtin_bank()
NASTY = [
    "../../../etc/cron.d/x",
    "/etc/passwd",
    "..",
    ".hidden",
    "a/b\\c",
    "con",
    "x\ny: z",
    "'; rm -rf / #",
    "a: b # c\n- d",
    "!!python/object/apply:os.system ['id']",
    "*alias &anchor <<: *x",
    "--- \n...\n%YAML 9",
    "[bold red]x[/] \u202e\x1b[31m",
    "{{ 7*7 }} {% include 'x' %}",
    "$HOME `id` $(id)",
    "=cmd|'/c calc'!A0",
    "<script>alert(1)</script>",
    "\ue000\ufdd0\uffff",
    "x" * 5000,
]


def xml(text: str) -> str:
    """Return a question with a text everywhere where a text may stand."""
    cdata = "".join(c for c in text if c not in "\x1b\uffff").replace("]]>", "")
    inside = f"<text><![CDATA[{cdata} w]]></text>"
    return "".join(
        [
            f'<quiz><question type="category"><category>{inside}</category></question>',
            f'<question type="multichoice"><name>{inside}</name>',
            f'<questiontext format="html">{inside}</questiontext>',
            f"<generalfeedback>{inside}</generalfeedback>",
            f'<answer fraction="100">{inside}<feedback>{inside}</feedback></answer>',
            '<answer fraction="0"><text>other</text>',
            f'<feedback format="markdown">{inside}</feedback></answer>',
            '<answer fraction="50"><text>third</text></answer>',
            f"<hint>{inside}</hint><tags><tag>{inside}</tag></tags></question></quiz>",
        ]
    )


KEYS = "id title source difficulty bloom topics points variants stem answer hints solution"


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_a_hostile_text_is_a_text_and_nothing_else(importing: Importing, tmp_path: Path, text: str) -> None:
    report = importing(xml(text), "q.xml")
    (item,) = report.items
    assert item.path.parent == tmp_path / "out"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "q.xml"]
    data = read_yaml(item.path).data
    assert set(data) == set(KEYS.split())
    variant = draw_seeded(load_spec(item.path), version="0", registry={}, seed=1)
    rendered = variant.stem.html + variant.stem.latex + "".join(o.text.html for o in variant.parts[0].options)
    assert "49" not in rendered
    assert "<script" not in rendered
    assert "\u202e" not in rendered + variant.title
    if "{{" in text:
        assert "{{ 7*7 }} {% include 'x' %}" in variant.stem.plain


def test_nothing_is_overwritten(importing: Importing, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.yaml").write_text("mine")
    (out / "a-2.yaml").symlink_to(tmp_path / "elsewhere")
    report = importing("::a::x{=y1 ~z1}")
    assert [item.path.name for item in report.items] == ["a-3.yaml"]
    assert (out / "a.yaml").read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()


def test_a_built_in_item_is_never_replaced(importing: Importing) -> None:
    assert [item.id for item in importing("::softmax-weights::x{=y1 ~z1}").items] == ["softmax-weights-2"]


def test_importing_twice_adds_nothing_and_changes_nothing(importing: Importing, tmp_path: Path) -> None:
    text = "::a::x{=y1 ~z1}\n\n::a::x{=y2 ~z2}\n\n::a::x{=y1 ~z1}"
    first = importing(text)
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    second = importing(text)
    assert [(item.id, item.is_new) for item in first.items] == [("a", True), ("a-2", True), ("a-3", True)]
    assert [(item.id, item.is_new) for item in second.items] == [("a", False), ("a-2", False), ("a-3", False)]
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == before


def test_the_same_file_gives_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "q.gift"
    path.write_text("::a::tanh of 0.5?{#0.462:0.001 ~#no}\n\n::b::x{~%50%y1 ~%25%z1 ~w1}", encoding="utf-8")
    texts = []
    for name in ("one", "two"):
        import_file(path, tmp_path / name, BANK)
        texts.append([p.read_bytes() for p in sorted((tmp_path / name).iterdir())])
    assert texts[0] == texts[1]


def test_a_broken_file_writes_nothing(importing: Importing, tmp_path: Path) -> None:
    text = "::a::x{=y1 ~z1}\n\n::b::x{=y1\n\n::c::x{#z}"
    with pytest.raises(ExchangeError) as caught:
        importing(text)
    assert [(fault.line, fault.column) for fault in caught.value.diagnostics] == [(3, 7), (5, 9)]
    assert not (tmp_path / "out").exists()
    report = importing(text, keep_going=True)
    assert [item.id for item in report.items] == ["a"]
    assert len(report.faults) == 2


def test_where_a_file_can_not_be_written_none_is(
    importing: Importing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.open

    def full(self: Path, mode: str = "r", *args: object, **more: object) -> object:
        if mode == "x" and self.name == "b.yaml":
            raise OSError(28, "No space left on device", str(self))
        return real(self, mode, *args, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ExchangeError, match="so none was"):
        importing("::a::x{=y1 ~z1}\n\n::b::x{=y1 ~z1}")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_file_that_appears_meanwhile_is_left_alone(
    importing: Importing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = write.lint_item

    def late(*args: object, **more: object) -> object:
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / "a.yaml").write_text("mine")
        return real(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(write, "lint_item", late)
    with pytest.raises(ExchangeError, match="so none was"):
        importing("::a::x{=y1 ~z1}")
    assert (tmp_path / "out" / "a.yaml").read_text() == "mine"


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "empty", "large"])
def test_what_is_no_file_of_questions_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "q.gift"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "empty":
        path.write_text(" \n")
    elif kind == "large":
        with path.open("wb") as file:
            file.truncate(32 * 2**20 + 1)
    with pytest.raises(ExchangeError) as caught:
        import_file(path, tmp_path / "out", BANK)
    assert caught.value.where == str(path)
    assert not (tmp_path / "out").exists()


def test_a_file_of_comments_holds_no_question(importing: Importing) -> None:
    with pytest.raises(ExchangeError, match="holds no question"):
        importing("// nothing\n\n$CATEGORY: a\n")


def test_an_out_folder_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "q.gift").write_text("x{=y1 ~z1}")
    (tmp_path / "out").write_text("mine")
    with pytest.raises(ExchangeError, match="can't be written"):
        import_file(tmp_path / "q.gift", tmp_path / "out", BANK)
