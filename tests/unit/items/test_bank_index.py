"""The bank: indexed by file name, overlaid by later roots, items read only when asked for."""

# ruff: noqa: E501 (tables of files and the sentences that they get)

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import InputError, SpecError, UnknownItemError
from engine.items import Bank, builtin_bank, builtin_root
from engine.items.bank_files import load_registry

ITEM = """\
id: {name}
title: {title}
source: {{document: S0}}
difficulty: 1
bloom: apply
topics: [attention]
stem: Which?
answer: {{type: token, accepted: [x]}}
misconceptions: [{{id: m-ours, expr: "1"}}]
"""


def write_item(folder: Path, name: str, title: str = "A title") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(ITEM.format(name=name, title=title), encoding="utf-8")
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "bank"
    write_item(root / "l16", "softmax-weights")
    write_item(root / "l16", "context-vector")
    write_item(root / "code" / "sdpa", "sdpa")
    (root / "blueprints").mkdir()
    (root / "blueprints" / "quiz.yaml").write_text("no item", encoding="utf-8")
    (root / "code" / "sdpa" / "mutants").mkdir()
    (root / "code" / "sdpa" / "mutants" / "notes.yaml").write_text("no item", encoding="utf-8")
    (root / ".hidden").mkdir()
    (root / ".hidden" / "secret.yaml").write_text("no item", encoding="utf-8")
    (root / "schema.json").write_text("{}", encoding="utf-8")
    (root / "misconceptions.yaml").write_text("m-ours: Our own mistake.\n", encoding="utf-8")
    return root


def test_items_are_found_by_file_name_without_reading_them(root: Path) -> None:
    (root / "l16" / "broken.yaml").write_text("a: {b: 1", encoding="utf-8")
    bank = Bank([root])
    assert bank.ids() == ["broken", "context-vector", "sdpa", "softmax-weights"]
    assert bank.path("sdpa") == root / "code" / "sdpa" / "sdpa.yaml"
    assert "sdpa" in bank
    assert len(bank) == 4
    assert bank.load("softmax-weights").title == "A title"
    with pytest.raises(SpecError, match="isn't closed"):
        bank.load("broken")


def test_an_unknown_item_suggests_the_nearest(root: Path) -> None:
    bank = Bank([root])
    for call in (bank.load, bank.path, bank.version):
        with pytest.raises(UnknownItemError) as caught:
            call("softmx-weight")
        assert caught.value.lines() == [
            "there is no item 'softmx-weight' in the bank",
            "  next: did you mean softmax-weights?",
        ]
    with pytest.raises(UnknownItemError, match="see: grade list"):
        bank.load("zzz")


@pytest.mark.parametrize(
    "name", ["../softmax-weights", "l16/softmax-weights", "", "x" * 100_000, "\x1b[31m", "a\0b"]
)
def test_a_foreign_id_finds_nothing_and_is_safe_to_print(root: Path, name: str) -> None:
    with pytest.raises(UnknownItemError) as caught:
        Bank([root]).load(name)
    assert len(str(caught.value)) < 300
    assert "\x1b" not in str(caught.value)


def test_later_roots_overlay_earlier_ones(root: Path, tmp_path: Path) -> None:
    private = tmp_path / "private"
    path = write_item(private, "sdpa", "Our own")
    (private / "misconceptions.yaml").write_text(
        "m-ours: Another sentence.\nm-new: A new one.\n", encoding="utf-8"
    )
    bank = Bank([root, private])
    assert bank.ids() == ["context-vector", "sdpa", "softmax-weights"]
    assert bank.path("sdpa") == path
    assert bank.load("sdpa").title == "Our own"
    assert dict(bank.registry()) == {"m-ours": "Another sentence.", "m-new": "A new one."}


def test_two_files_of_one_name_in_one_root_spoil_that_item_only(root: Path) -> None:
    write_item(root / "y", "sdpa")
    write_item(root / "z", "sdpa")
    bank = Bank([root])
    with pytest.raises(SpecError) as caught:
        bank.load("sdpa")
    assert [Path(fault.file).parent.name for fault in caught.value.diagnostics] == ["y", "z"]
    first = root / "code" / "sdpa" / "sdpa.yaml"
    assert all(f"'sdpa' belongs to {first} already" in f.message for f in caught.value.diagnostics)
    specs, faulty = bank.readable()
    assert [spec.id for spec in specs] == ["context-vector", "softmax-weights"]
    assert faulty == [caught.value]


def test_a_later_root_settles_whose_an_id_is(root: Path, tmp_path: Path) -> None:
    write_item(root / "z", "sdpa")
    private = tmp_path / "private"
    write_item(private, "sdpa")
    assert Bank([root, private]).load("sdpa").id == "sdpa"


def test_a_missing_root_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder of problems here"):
        Bank([tmp_path / "missing"])


def test_a_bank_without_registry_has_an_empty_one(tmp_path: Path) -> None:
    write_item(tmp_path, "item")
    bank = Bank([tmp_path])
    assert dict(bank.registry()) == {}
    with pytest.raises(SpecError, match="'m-ours' isn't in the registry"):
        bank.load("item")


def test_a_registry_entry_is_a_sentence_or_has_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "misconceptions.yaml"
    path.write_text("m-a: A sentence.\nm-b: {feedback: Another., formula: 2^e}\n", encoding="utf-8")
    assert load_registry(path) == {"m-a": "A sentence.", "m-b": "Another."}
    path.write_text("m-a:\nm_b: x\nm-c: {feedbak: x}\nm-a: y\n", encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_registry(path)
    assert [f"{d.line}:{d.column}: {d.message}" for d in caught.value.diagnostics] == [
        "1:5: text was expected, not nothing",
        "2:1: the name 'm_b' has the wrong form; expected: letters, digits and single hyphens, such as m-base2",
        "3:7: unknown key 'feedbak'; did you mean 'feedback'?",
        "4:1: the key 'm-a' appears here twice; first on line 1",
    ]


def test_the_built_in_bank_lies_beside_the_engine() -> None:
    bank = builtin_bank()
    assert (builtin_root() / "misconceptions.yaml").is_file()
    assert "l16-ex3-softmax-weights" in bank
    assert bank.registry()["m-base2"]


def test_every_built_in_item_loads() -> None:
    bank = builtin_bank()
    for item_id in bank.ids():
        assert bank.load(item_id).id == item_id
        assert bank.load(item_id) is bank.load(item_id)


def test_loading_the_bank_imports_no_torch() -> None:
    code = (
        "import sys\n"
        "from engine.items import builtin_bank\n"
        "bank = builtin_bank()\n"
        "versions = [bank.version(i) for i in bank.ids()]\n"
        "assert versions\n"
        "print(sorted({'torch', 'hypothesis', 'sqlalchemy', 'scipy'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_may_be_imported_is_no_part_of_an_items_version() -> None:
    plain, told = Bank([builtin_root()]), Bank([builtin_root()], packages=["scipy"])
    code = [item for item in plain.ids() if plain.load(item).kind == "code"]
    assert len(code) >= 17
    for item in code:
        assert told.version(item) == plain.version(item)
        assert "`scipy` may be imported, too" in told.load(item).stem
        assert "may be imported" not in plain.load(item).stem
    assert told.load("softmax-weights") == plain.load("softmax-weights")
