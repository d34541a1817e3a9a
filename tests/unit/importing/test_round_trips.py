"""Canvas and Open edX: the whole bank comes back, and what their files can't carry was announced."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.items import load_spec
from engine.model import Variant
from tests.unit.importing.round_trips import (
    BANK,
    again,
    carried,
    check,
    close,
    drawn,
    family,
    read_back,
)


def by_title(variants: list[Variant]) -> dict[tuple[str, str], Variant]:
    found = {(variant.title, close(variant.stem.plain)[:20]): variant for variant in variants}
    assert len(found) == len(variants)
    return found


def test_the_whole_bank_comes_back_from_open_edx(tmp_path: Path) -> None:
    bank = carried("olx")
    report = read_back(tmp_path, "olx", *(family(variant) for variant, _ in bank.values()))
    assert (report.skipped, report.faults, report.format) == ((), (), "olx")
    assert len(report.items) == len(bank) >= 115
    for item in report.items:
        name = item.place.file.rpartition("/")[2].removesuffix("-001.xml")
        variant, losses = bank[name]
        check(item, variant, losses, "olx")
        spec, original = load_spec(item.path, registry=BANK.registry()), BANK.load(name)
        assert (spec.difficulty, spec.bloom, spec.topics) == (
            original.difficulty,
            original.bloom,
            original.topics,
        )
        new = again(item.path)
        assert [close(h.plain) for h in new.hints] == [close(h.plain) for h in variant.hints], name


def test_the_whole_bank_comes_back_from_canvas(tmp_path: Path) -> None:
    bank = carried("canvas")
    report = read_back(tmp_path, "canvas", *(family(variant) for variant, _ in bank.values()))
    # Canvas keeps no rubric, and nobody marks an essay without one here
    assert {skip.type for skip in report.skipped} == {"essay_question"}
    assert (report.faults, report.format) == ((), "canvas")
    assert len(report.items) + len(report.skipped) == len(bank) >= 115
    titles = by_title([variant for variant, _ in bank.values()])
    for item in report.items:
        new = again(item.path)
        variant = titles[new.title, close(new.stem.plain)[:20]]
        check(item, variant, bank[variant.item][1], "canvas")
        # the group's title holds the topic
        assert load_spec(item.path, registry=BANK.registry()).topics == BANK.load(variant.item).topics[:1]


@pytest.mark.parametrize("form", ["canvas", "olx"])
def test_each_variant_is_an_item_and_bytes_repeat(tmp_path: Path, form: str) -> None:
    variants = [drawn("scaled-dot-score", seed) for seed in range(3)]
    made = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        report = read_back(folder, form, *map(family, variants[:1]), family(drawn("softmax-weights")))
        made.append([item.path.read_bytes() for item in report.items])
    assert made[0] == made[1]
    assert len(made[0]) == 2
