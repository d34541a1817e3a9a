"""What candidates see and do in two QTI players: keyboard and mouse, feedback, pictures, rubrics, braces."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.export.exported_item import ExportedFamily, ExportedQuiz, exported_item
from engine.export.formats import quiz_format
from engine.items.bank import builtin_bank
from engine.model import ChoiceOption, Part, Variant
from engine.prose.markdown import render_prose
from engine.variants import draw_seeded
from tests.clients.qti_players import Player, needs_players, players

pytestmark = needs_players

ITEMS = (
    "softmax-weights",
    "advantages-limitations",
    "own-context-explained",
    "alignment-read",
    "limiting-cases",
)


def _hostile() -> ExportedFamily:
    options = tuple(
        ChoiceOption(letter, render_prose(f"`{text}`"), correct=letter == "a")
        for letter, text in zip("ab", ("{{ 7 * 7 }}", "]]> & {{x}}"), strict=True)
    )
    part = Part("answer", "single_choice", 1.0, key_ids=("a",), options=options)
    variant = Variant("v", "hostile", "1", "T", render_prose("Is `{{ 6 * 7 }}` 42?"), (part,))
    return ExportedFamily("hostile", "T", (), (), 1.0, "", (exported_item("hostile", variant),))


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Player]]]:
    bank = builtin_bank()
    families = [
        ExportedFamily(item, item, (), (), variant.points, "", (exported_item(item, variant),))
        for item in ITEMS
        for variant in [draw_seeded(bank.load(item), version="v", registry=bank.registry(), seed=3)]
    ]
    quiz = ExportedQuiz("quiz", "Quiz", (*families, _hostile()))
    folder = tmp_path_factory.mktemp("package")
    data = quiz_format("qti3").write(quiz, lambda: None)
    zipfile.ZipFile(io.BytesIO(data)).extractall(folder)
    with players(folder) as found:
        yield folder, found


def _item(folder: Path, name: str) -> str:
    return (folder / "items" / f"{name}.xml").read_text(encoding="utf-8")


def _show(player: Player, text: str) -> str:
    player.page.evaluate("show", text)
    return player.page.locator(".qti-item-body, qti-item-body").inner_text()


def test_what_is_typed_and_clicked_by_hand_is_what_the_harness_enters(
    opened: tuple[Path, list[Player]],
) -> None:
    folder, found = opened
    for player in found:
        _show(player, _item(folder, "softmax-weights"))
        fields = player.page.locator("input")
        assert fields.count() == 3
        for at, number in enumerate(("0.1", "0.2", "0.7")):
            fields.nth(at).click()
            player.page.keyboard.type(number)
        by_hand = player.page.evaluate("end()")
        responses = {f"RESPONSE_{n}": text for n, text in enumerate(("0.1", "0.2", "0.7"), start=1)}
        entered = player.answer(_item(folder, "softmax-weights"), [responses])[0]
        assert [by_hand["responses"][name] for name in responses] == list(responses.values())
        assert (by_hand["score"], list(by_hand["shown"])) == (entered.score, list(entered.shown))


def test_a_comma_is_refused_or_warned_about_while_it_is_typed(opened: tuple[Path, list[Player]]) -> None:
    folder, found = opened
    amp, citolab = found
    for player in found:
        _show(player, _item(folder, "softmax-weights"))
        player.page.locator("input").first.click()
        player.page.keyboard.type("0,5")
    assert amp.page.locator("input").first.input_value() == "05"
    assert citolab.page.locator("input").first.evaluate("e => e.checkValidity()") is False


def test_both_show_all_feedback_that_an_answer_calls_for(opened: tuple[Path, list[Player]]) -> None:
    folder, found = opened
    text = _item(folder, "limiting-cases")
    pairs = re.findall("<qti-value>(P[^<]*)</qti-value>", text)[:4]
    targets = re.findall('identifier="(T-[^"]*)" match-max', text)
    others = [next(f"{p.split()[0]} {t}" for t in targets if not p.endswith(t)) for p in pairs]
    for player in found:
        full, partial, none = player.answer(
            text, [{"RESPONSE": pairs}, {"RESPONSE": [*others[:2], *pairs[2:]]}, {"RESPONSE": None}]
        )
        assert (full.score, partial.score, none.score) == (1, 0.5, 0)
        told, hints = 2, 2
        assert [len(one.shown) for one in (full, partial, none)] == [1, told + hints + 1, hints + 1]
        assert sum("Hint" in shown for shown in partial.shown) == hints


def test_formulas_are_formulas(opened: tuple[Path, list[Player]]) -> None:
    folder, found = opened
    for player in found:
        _show(player, _item(folder, "softmax-weights"))
        kinds = player.page.locator("math").evaluate_all("all => all.map(one => one.namespaceURI)")
        assert kinds and set(kinds) == {"http://www.w3.org/1998/Math/MathML"}


def test_pictures_are_shown(opened: tuple[Path, list[Player]]) -> None:
    folder, found = opened
    for player in found:
        _show(player, _item(folder, "alignment-read"))
        picture = player.page.locator("img").first
        picture.wait_for()
        handle = picture.element_handle()
        player.page.wait_for_function("e => e.complete && e.naturalWidth > 50", arg=handle)
        assert len(picture.get_attribute("alt") or "") > 20


def test_candidates_do_not_see_the_rubric(opened: tuple[Path, list[Player]]) -> None:
    folder, found = opened
    text = _item(folder, "own-context-explained")
    assert "A sample answer" in text
    for player in found:
        assert "A sample answer" not in _show(player, text)


def test_braces_stay_braces(opened: tuple[Path, list[Player]]) -> None:
    folder, found = opened
    for player in found:
        shown = _show(player, _item(folder, "hostile"))
        assert "{{ 6 * 7 }}" in shown and "{{ 7 * 7 }}" in shown and "]]> & {{x}}" in shown
        assert "49" not in shown
