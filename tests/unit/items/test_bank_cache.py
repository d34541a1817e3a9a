"""What is kept of a bank is what reading it anew would give, whatever happens to its files or the cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.commands.context import CommandContext
from engine.errors import SpecError
from engine.items import Bank, builtin_bank, builtin_root
from engine.model import Variant
from engine.text import cache as cache_module
from engine.text.cache import JsonCache, as_plain, of_plain

ITEM = """\
id: {name}
title: {title}
source: {{document: S0}}
difficulty: 1
bloom: apply
topics: [attention]
stem: Which?
answer: {{type: token, accepted: [x]}}
misconceptions: [{{id: m-ours, expr: "'y'"}}]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "bank"
    root.mkdir()
    (root / "misconceptions.yaml").write_text("m-ours: Our own mistake.\n")
    for name in ("first", "second"):
        (root / f"{name}.yaml").write_text(ITEM.format(name=name, title="A title"))
    for path in [root, *root.iterdir()]:  # old enough that sizes and times can be relied on
        os.utime(path, (1, 1))
    return root


@pytest.fixture
def cache(tmp_path: Path) -> JsonCache:
    return JsonCache(tmp_path / "home" / "cache")


def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files that this test has just written count as old."""
    monkeypatch.setattr(cache_module, "_COARSEST_NS", -(10**18))


def no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **options: object) -> None:
        raise AssertionError("a problem file was read")

    monkeypatch.setattr("engine.items.bank_files.load_spec", fail)


def titles(bank: Bank) -> dict[str, str]:
    summaries, faulty = bank.summaries()
    assert faulty == []
    return {summary.id: summary.title for summary in summaries}


def drawn(bank: Bank, item: str, seed: int = 3) -> Variant:
    return CommandContext(bank, None).draw(item, seed)


def rewrite(path: Path, old: str, new: str) -> None:
    """Change a file so that neither its size nor the time of its change shows it."""
    before = path.stat()
    text = path.read_text()
    assert old in text and len(old) == len(new)
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_every_built_in_variant_comes_back_as_it_was_drawn(cache: JsonCache) -> None:
    plain, kept = builtin_bank(), Bank([builtin_root()], cache=cache)
    assert kept.summaries() == plain.summaries()
    assert Bank([builtin_root()], cache=cache).summaries() == plain.summaries()
    for item in plain.ids():
        variant = drawn(plain, item)
        assert of_plain(Variant, json.loads(json.dumps(as_plain(variant)))) == variant, item


def test_a_second_command_reads_no_problem_file(
    root: Path, cache: JsonCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(monkeypatch)
    first = Bank([root], cache=cache)
    variant, registry, names = drawn(first, "first"), first.registry(), titles(first)
    no_reading(monkeypatch)
    second = Bank([root], cache=cache)
    assert (drawn(second, "first"), second.registry(), titles(second)) == (variant, registry, names)
    with pytest.raises(AssertionError, match="was read"):
        drawn(second, "first", seed=4)


@pytest.mark.parametrize("is_settled", [True, False])
def test_an_edit_is_seen_at_once(
    root: Path, cache: JsonCache, monkeypatch: pytest.MonkeyPatch, is_settled: bool
) -> None:
    if is_settled:
        settled(monkeypatch)
    bank = Bank([root], cache=cache)
    assert titles(bank) == {"first": "A title", "second": "A title"}
    before = drawn(bank, "first")
    rewrite(root / "first.yaml", "A title", "B title")
    assert titles(Bank([root], cache=cache)) == {"first": "B title", "second": "A title"}
    after = drawn(Bank([root], cache=cache), "first")
    assert (before.title, after.title) == ("A title", "B title")
    assert before.item_version != after.item_version
    rewrite(root / "misconceptions.yaml", "Our own", "My very")
    bank = Bank([root], cache=cache)
    assert bank.registry() == {"m-ours": "My very mistake."}
    assert drawn(bank, "first").parts[0].known_wrong[0].feedback == "My very mistake."
    (root / "third.yaml").write_text(ITEM.format(name="third", title="C title"))
    (root / "second.yaml").unlink()
    assert titles(Bank([root], cache=cache)) == {"first": "B title", "third": "C title"}


def test_a_faulty_item_is_named_each_time(
    root: Path, cache: JsonCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(monkeypatch)
    titles(Bank([root], cache=cache))
    rewrite(root / "misconceptions.yaml", "m-ours", "m-else")
    for _ in range(2):
        summaries, faulty = Bank([root], cache=cache).summaries()
        assert summaries == [] and len(faulty) == 2
        with pytest.raises(SpecError, match="m-ours"):
            drawn(Bank([root], cache=cache), "first")


def test_an_id_that_two_files_claim_is_refused_though_it_was_kept(root: Path, cache: JsonCache) -> None:
    drawn(Bank([root], cache=cache), "first")
    (root / "more").mkdir()
    (root / "more" / "first.yaml").write_text(ITEM.format(name="first", title="Another"))
    bank = Bank([root], cache=cache)
    with pytest.raises(SpecError, match="unique"):
        drawn(bank, "first")
    assert [summary.id for summary in bank.summaries()[0]] == ["second"]


def test_a_file_beside_a_code_exercise_makes_it_another_item(tmp_path: Path, cache: JsonCache) -> None:
    source = builtin_root() / "code" / "softmax"
    folder = tmp_path / "problems" / "softmax"
    for path in source.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            (folder / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            (folder / path.relative_to(source)).write_bytes(path.read_bytes())
    roots = [builtin_root(), tmp_path / "problems"]
    before = drawn(Bank(roots, cache=cache), "softmax")
    assert before == drawn(Bank(roots, cache=cache), "softmax") == drawn(Bank(roots), "softmax")
    with (folder / "solution_numpy.py").open("a") as file:
        file.write("# a remark\n")
    after = drawn(Bank(roots, cache=cache), "softmax")
    assert after == drawn(Bank(roots), "softmax")
    assert after.item_version != before.item_version


def test_settings_of_a_course_are_part_of_what_is_kept(cache: JsonCache) -> None:
    for options in ({}, {"packages": ["scipy"]}, {"packages": ["einops"]}, {"decimal_comma": True}):
        bank = Bank([builtin_root()], cache=cache, **options)  # type: ignore[arg-type]
        plain = Bank([builtin_root()], **options)  # type: ignore[arg-type]
        for item in ("softmax", "softmax-weights"):
            assert drawn(bank, item) == drawn(plain, item)


def _flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    place = data.index(b"A title")
    data[place] = ord("Z")
    path.write_bytes(data)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "damage",
    [
        _flipped,
        _folder,
        lambda path: path.write_bytes(path.read_bytes()[:-20]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\xff" * 100),
    ],
)
def test_what_is_damaged_is_read_anew(
    root: Path, cache: JsonCache, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], object]
) -> None:
    settled(monkeypatch)
    bank = Bank([root], cache=cache)
    variant, names = drawn(bank, "first"), titles(bank)
    for path in list((root.parent / "home" / "cache").iterdir()):
        if b"A title" in path.read_bytes():
            damage(path)
    bank = Bank([root], cache=cache)
    assert (drawn(bank, "first"), titles(bank)) == (variant, names)


def test_what_others_could_have_written_is_not_believed(root: Path, cache: JsonCache) -> None:
    folder = root.parent / "home" / "cache"
    drawn(Bank([root], cache=cache), "first")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    written = len(list(folder.iterdir()))
    folder.chmod(0o770)
    assert cache.get("Variant", ["anything"]) is None
    drawn(Bank([root], cache=cache), "second")
    assert len(list(folder.iterdir())) == written
    cache.put("name", ["key"], 1)
    folder.chmod(0o700)
    assert cache.get("name", ["key"]) is None
    cache.put("name", ["key"], 1)
    assert cache.get("name", ["key"]) == 1
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))
    assert cache.get("name", ["key"]) is None


def test_another_state_of_the_code_keeps_values_of_its_own(
    cache: JsonCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.put("name", ["key"], 1)
    monkeypatch.setattr(cache_module, "_code_state", lambda: "another")
    assert cache.get("name", ["key"]) is None
    cache.put("name", ["key"], 2)
    monkeypatch.undo()
    assert cache.get("name", ["key"]) == 1


@pytest.mark.parametrize("place", ["/dev/null/cache", "/proc/cache"])
def test_where_nothing_can_be_written_nothing_is_kept(root: Path, place: str) -> None:
    cache = JsonCache(Path(place))
    assert titles(Bank([root], cache=cache)) == {"first": "A title", "second": "A title"}
    assert drawn(Bank([root], cache=cache), "first").title == "A title"
    cache.put("name", ["key"], 1)
    assert cache.get("name", ["key"]) is None


def test_a_file_that_changes_while_it_is_read_is_not_kept(root: Path, cache: JsonCache) -> None:
    path = root / "first.yaml"

    def made() -> int:
        path.write_text("another text")
        return 1

    assert cache.derived("name", [path], [], made) == 1
    assert cache.derived("name", [path], [], lambda: 2) == 2


def test_the_oldest_values_go(cache: JsonCache, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_MOST_FILES", 9)
    folder = root.parent / "home" / "cache"
    for number in range(10):
        cache.put("name", [str(number)], number)
        for age, path in enumerate(sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime_ns)):
            os.utime(path, (age, age))
    assert len(list(folder.iterdir())) == 7
    assert [cache.get("name", [str(number)]) for number in (0, 1, 2, 3, 9)] == [None, None, None, 3, 9]


_TOGETHER = """
import sys
from pathlib import Path
from engine.commands.context import CommandContext
from engine.items import Bank
from engine.text.cache import JsonCache

for _ in range(10):
    bank = Bank([Path(sys.argv[1])], cache=JsonCache(Path(sys.argv[2])))
    assert [summary.title for summary in bank.summaries()[0]] == ["A title"] * 2
    assert CommandContext(bank, None).draw("first", 3).title == "A title"
    for path in Path(sys.argv[2]).glob("*.json"):
        path.unlink(missing_ok=True)
"""


def test_several_may_write_at_once(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _TOGETHER, str(root), str(tmp_path / "cache")]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for process in running:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    assert not list((tmp_path / "cache").glob("*.part"))
