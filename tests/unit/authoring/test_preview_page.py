"""The preview page of every type of item: what its author must see, as valid and harmless HTML."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import html5lib
import pytest

from engine.answers import right_response
from engine.authoring.preview.follow import PreviewSource, PreviewState, check, look_at
from engine.authoring.preview.server import page_of, script, style
from engine.authoring.scaffold import KINDS, scaffold, write_new_files
from engine.items.bank import builtin_bank

SEEDS = 3


def begin(kind: str, folder: Path) -> Path:
    texts = scaffold(kind, "mine", None, folder)
    write_new_files(texts)
    return next(iter(texts))


def look(path: Path, before: PreviewState | None = None, seeds: int = SEEDS) -> PreviewState:
    return look_at(PreviewSource(path, builtin_bank, seeds), before)


def parsed(page: str) -> ElementTree.Element:
    """Parse strictly: any parse error fails the test."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)


def words(node: ElementTree.Element) -> str:
    return " ".join(" ".join(node.itertext()).split())


def articles(page: str) -> list[ElementTree.Element]:
    return list(parsed(page).iter("article"))


def page(given: PreviewState, path: Path) -> str:
    return page_of(given, "1-1", path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_shows_key_mistakes_hints_and_solution(kind: str, tmp_path: Path) -> None:
    path = begin(kind, tmp_path)
    given = look(path)
    assert not given.faults and given.spec is not None
    shown = articles(page(given, path))
    assert len(shown) == (1 if kind == "code" else SEEDS)
    for card, node in zip(given.cards, shown, strict=True):
        told = words(node)
        assert f"Seed {card.seed} " in told
        for part in card.variant.parts:
            if part.type != "code":
                assert right_response(part) in told
            for known in part.known_wrong:
                assert known.misconception in told and " ".join(known.feedback.split()) in told
            for option in (*part.options, *part.prompts):
                assert " ".join(option.feedback.split()) in told
        for name in (*card.variant.values, *given.spec.derived):
            assert name in [words(code) for code in node.iter("code")]
        assert "Hint" in told and "Solution" in told


def test_wrong_options_name_the_mistake_that_made_them(tmp_path: Path) -> None:
    path = begin("single_choice", tmp_path)
    given = look(path)
    (answer,) = {part.type for card in given.cards for part in card.variant.parts}
    assert answer == "single_choice"
    for card, node in zip(given.cards, articles(page(given, path)), strict=True):
        entries = [words(entry) for entry in node.iter("li")]
        for option in card.variant.parts[0].options:
            (entry,) = [found for found in entries if found.startswith(f"({option.id}) ")]
            assert (" right" in entry) == option.correct
            if not option.correct:
                assert (
                    f"wrong made by {option.misconception} says: {' '.join(option.feedback.split())}" in entry
                )


def test_a_mistake_behind_no_option_is_listed(tmp_path: Path) -> None:
    path = begin("single_choice", tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("[m-base2, m-sigmoid-norm, m-neg]", "[m-base2, m-neg]"), encoding="utf-8")
    told = words(articles(page(look(path), path))[0])
    assert "Known mistakes that aren't options made by m-sigmoid-norm , not among the distractors" in told


def test_numbers_show_the_interval_and_mistakes_without_a_value(tmp_path: Path) -> None:
    path = begin("number", tmp_path)
    text = path.read_text(encoding="utf-8")
    extra = "misconceptions:\n  - {id: m-none, expr: log(low - 5), feedback: Never said.}\n"
    path.write_text(text.replace("misconceptions:\n", extra), encoding="utf-8")
    given = look(path)
    for card, node in zip(given.cards, articles(page(given, path)), strict=True):
        settings = card.variant.parts[0].settings
        told = words(node)
        assert f"accepted: {settings['lower'][0]} to {settings['upper'][0]}" in told
        assert "made by m-none , which has no value for these numbers" in told
        assert "Never said." not in told


def test_an_ordering_shows_its_cards_in_the_right_order(tmp_path: Path) -> None:
    path = begin("ordering", tmp_path)
    given = look(path)
    card = given.cards[0]
    node = articles(page(given, path))[0]
    texts = {option.id: option.text.plain for option in card.variant.parts[0].options}
    rows = [words(entry) for entry in node.iter("li") if words(entry).startswith("(")]
    assert rows == [f"({label}) {texts[label]}" for label in card.variant.parts[0].key_ids]
    assert "feedback on a wrong answer: Each event needs the result of the one before it." in words(node)


def test_a_pair_shows_its_target(tmp_path: Path) -> None:
    path = begin("matching", tmp_path)
    given = look(path)
    part = given.cards[0].variant.parts[0]
    rows = [words(entry) for entry in articles(page(given, path))[0].iter("li")]
    for prompt, target in zip(part.prompts, part.key_ids, strict=True):
        assert f"{prompt.id} {prompt.text.plain} belongs to ({target}) says: {prompt.feedback}" in rows


def test_a_code_exercise_shows_starter_checks_and_mutants(tmp_path: Path) -> None:
    path = begin("code", tmp_path)
    told = words(articles(page(look(path), path))[0])
    assert 'raise NotImplementedError("write me")' in told
    assert "large sums-to-one 1 our sentence: Large scores must not overflow. sums" in told
    assert "no-max-shift fails large says: The exponential overflows" in told


def test_what_says_nothing_stands_out(tmp_path: Path) -> None:
    path = begin("single_choice_pool", tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"\n      feedback: .*", "", text), encoding="utf-8")
    given = look(path, seeds=8)
    told = words(parsed(page(given, path)).find("body"))
    silent = [o for c in given.cards for o in c.variant.parts[0].options if not o.correct and not o.feedback]
    assert silent and told.count("says nothing to whoever chooses it") == len(silent)


def test_lint_stands_above_the_variants(tmp_path: Path) -> None:
    path = begin("token", tmp_path)
    source = PreviewSource(path, builtin_bank, SEEDS)
    assert "Lint is running" in page(look(path), path)
    given = look(path)
    assert "Lint finds nothing wrong" in page(replace(given, findings=check(source, given)), path)

    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("variants: 9", "variants: 2"), encoding="utf-8")
    given = look(path)
    told = words(parsed(page(replace(given, findings=check(source, given)), path)).find("body"))
    assert "Lint: 1 error, 0 warnings error the item has more distinct keys than it declares" in told
    line = text[: text.index("variants: 9")].count("\n") + 1
    assert f"{path}:{line}:1 variants: 2 ^ expected: at most 2" in told


def test_a_fault_shows_its_line_and_keeps_the_last_variants_in_grey(tmp_path: Path) -> None:
    path = begin("vector", tmp_path)
    good = look(path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("key: softmax(e)", "key: softmx(e)"), encoding="utf-8")
    broken = look(path, good)
    assert broken.is_old and broken.cards == good.cards
    tree = parsed(page(broken, path))
    told = words(tree.find("body"))
    before = text[: text.index("softmax(e), decimals")]
    line, column = before.count("\n") + 1, len(before) - before.rindex("\n")
    assert f"{path}:{line}:{column} there is no function 'softmx'; did you mean 'softmax'?" in told
    assert "answer: {type: vector, key: softmx(e)," in told
    (grey,) = [node for node in tree.iter("div") if node.get("class") == "cards old"]
    assert len(list(grey.iter("article"))) == SEEDS
    assert told.count("of an earlier save") == SEEDS

    path.write_text(text, encoding="utf-8")
    mended = look(path, broken)
    assert not mended.is_old and [c.variant for c in mended.cards] == [c.variant for c in good.cards]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "the file is empty"),
        (b"\xff\xfe\x00", "UTF-16"),
        (b"id: mine\nid: mine\n", "appears here twice"),
        (b"a: [1, 2", "mine.yaml:"),
    ],
)
def test_a_file_that_never_was_good_is_shown_too(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    given = look(path)
    assert given.faults and not given.cards and not given.is_old
    assert what in words(parsed(page(given, path)).find("body"))
    path.unlink()
    assert "there is no such file" in words(parsed(page(look(path), path)).find("body"))


def test_seeds_without_a_variant_are_named(tmp_path: Path) -> None:
    path = begin("number", tmp_path)
    text = path.read_text(encoding="utf-8")
    impossible = "constraints:\n  - {expr: low > 5, message: low is large}\nderived:\n"
    path.write_text(text.replace("derived:\n", impossible), encoding="utf-8")
    given = look(path)
    assert not given.cards
    assert "this failed 200 times: low is large" in words(parsed(page(given, path)).find("body"))

    # possible for some seeds only: 200 tries are about as many as it takes
    rare = "constraints:\n  - {expr: low == 1 and gap == 2.9, message: a rare draw}\nderived:\n"
    path.write_text(text.replace("derived:\n", rare), encoding="utf-8")
    given = look(path, seeds=20)
    assert given.cards and given.missing
    told = words(parsed(page(given, path)).find("body"))
    assert f"{len(given.missing)} of 20 seeds give no variant Seed {given.missing[0][0]} " in told


HOSTILE = "</script><img src=x onerror=alert(1)><b>&amp; \u202e"


def test_nothing_in_a_file_becomes_markup(tmp_path: Path) -> None:
    path = begin("matching", tmp_path)
    text = path.read_text(encoding="utf-8")
    hostile = HOSTILE.replace("\u202e", "")
    for old in ("title: Mine", "Only scores can be negative.", "the next word", "Softmax stands between"):
        assert old in text or old == "title: Mine"
        text = text.replace(old, f"'{hostile}'" if old != "title: Mine" else old)
    text = re.sub(r"^title: .*", f"title: '{hostile}'", text, flags=re.MULTILINE)
    path.write_text(text.replace("hints:\n  - '", "hints:\n  - >-\n    '"), encoding="utf-8")
    given = look(path, seeds=10)
    assert not given.faults
    assert_harmless(page(given, path))
    path.write_text(f"id: mine\n{hostile}: 1\n", encoding="utf-8")
    broken = look(path, given)
    assert broken.faults
    assert_harmless(page(broken, path))
    assert_harmless(page(look(tmp_path / f"{hostile.replace('/', '')}.yaml"), Path(hostile)))


def assert_harmless(given: str) -> None:
    tree = parsed(given)
    assert [node.get("src") for node in tree.iter("script")] == ["/preview.js"]
    assert [node.get("href") for node in tree.iter("link")] == ["/style.css"]
    tags = {node.tag for node in tree.iter() if isinstance(node.tag, str)}
    assert not tags & {"img", "iframe", "object", "embed", "form", "base", "b", "style"}
    for node in tree.iter():
        for name, value in node.attrib.items():
            assert not name.startswith("on") and name != "style", "inline handlers and styles"
            assert not re.match(r"\s*(javascript|data|https?):", value), f"{name}={value}"


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_can_be_used_by_keyboard_and_read_aloud(kind: str, tmp_path: Path) -> None:
    path = begin(kind, tmp_path)
    given = replace(look(path), findings=())
    tree = parsed(page(given, path))
    ids = [node.get("id") for node in tree.iter() if node.get("id")]
    assert len(ids) == len(set(ids))
    for node in tree.iter("a"):
        assert node.get("href", "").removeprefix("#") in ids
    for node in tree.iter():
        for name in ("aria-labelledby", "aria-describedby"):
            assert set((node.get(name) or "").split()) <= set(ids)
        if node.get("tabindex") == "0":
            assert node.get("aria-label"), "what can be reached has a name"
    assert next(tree.iter("a")).get("href") == "#content", "the skip link comes first"
    levels = [int(node.tag[1]) for node in tree.iter() if re.fullmatch(r"h[1-6]", str(node.tag))]
    assert levels[0] == 1 and all(after <= before + 1 for before, after in pairwise(levels))
    assert tree.find(".//*[@aria-live='polite']") is not None


def test_style_and_script_need_no_network() -> None:
    for text in (style(), script()):
        assert not re.search(r"https?:|//[a-z]|@import|url\(", re.sub(r"(?m)^\s*//.*$", "", text))
    assert "prefers-color-scheme: dark" in style()
