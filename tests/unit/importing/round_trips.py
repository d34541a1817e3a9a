"""The bank, exported and read back: what a format carries is the same, what it doesn't was announced."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.answers import answer_type, right_response
from engine.authoring.importing.import_file import import_file
from engine.authoring.importing.item_drafts import ImportedItem, ImportReport
from engine.export.exported_item import ExportedFamily, ExportedQuiz, ExportLoss, exported_item
from engine.export.formats import quiz_format
from engine.grading import grade_answers
from engine.items import load_spec
from engine.items.bank import builtin_bank
from engine.model import Mode, Outcome, Part, Response, Variant
from engine.variants import draw_seeded

BANK = builtin_bank()
# what a platform's rules may change, each time with an announcement
SETTINGS = ("policy", "partial", "near_credit", "order_credit", "case_sensitive", "unit")


def drawn(item: str, seed: int = 0) -> Variant:
    return draw_seeded(BANK.load(item), version="v", registry=BANK.registry(), seed=seed)


def family(variant: Variant) -> ExportedFamily:
    spec = BANK.load(variant.item)
    tags = (*spec.topics, f"difficulty-{spec.difficulty}", spec.bloom, spec.id)
    item = exported_item(f"{spec.id}-001", variant)
    return ExportedFamily(spec.id, spec.title, spec.topics[:1], tags, item.points, "", (item,))


def again(path: Path) -> Variant:
    return draw_seeded(load_spec(path, registry=BANK.registry()), version="v", registry={}, seed=0)


def close(text: str) -> str:
    """Return a text without blanks, and with one kind of apostrophe: a dropdown takes no straight one."""
    return "".join(text.split()).replace("\u2019", "'")


def read_back(tmp_path: Path, form: str, *families: ExportedFamily) -> ImportReport:
    path = tmp_path / f"quiz{quiz_format(form).suffix}"
    path.write_bytes(exported_file(form, *families))
    return import_file(path, tmp_path / "out", BANK)


def exported_file(form: str, *families: ExportedFamily) -> bytes:
    return quiz_format(form).write(ExportedQuiz("quiz", "Week 3", families), lambda: None)


def carried(form: str) -> dict[str, tuple[Variant, Sequence[ExportLoss]]]:
    """Return the items of the bank that a format takes, with what it announces to lose."""
    chosen = quiz_format(form)
    variants = [drawn(item) for item in BANK.ids() if BANK.load(item).kind != "code"]
    losses = {variant.item: (variant, chosen.losses(family(variant))) for variant in variants}
    return {name: pair for name, pair in losses.items() if not any(loss.is_refusal for loss in pair[1])}


def check(item: ImportedItem, old: Variant, losses: Sequence[ExportLoss], form: str) -> None:
    """Compare an item that came back with what it was."""
    new = again(item.path)
    assert [part.type for part in new.parts] == [part.type for part in old.parts], old.item
    if "<figure" not in old.stem.html and len(old.parts) == 1:
        assert close(new.stem.plain).startswith(close(old.stem.plain)), old.item
    if old.solution is not None and "<figure" not in old.solution.html:
        assert new.solution is not None, old.item
        assert close(new.solution.plain).startswith(close(old.solution.plain)), old.item
    notes = [note.message for note in item.notes]
    if not any("points can't be shared" in note for note in notes):
        assert new.points == pytest.approx(old.points), old.item
    for before, after in zip(old.parts, new.parts, strict=True):
        changed = [s for s in SETTINGS if before.settings.get(s) != after.settings.get(s)]
        if before.type == "number":
            changed = [
                setting for setting in changed if setting != "partial"
            ]  # says nothing about one number
        announced = [loss.message for loss in losses if loss.field == before.id]
        assert not changed or announced, (old.item, before.id, changed)
        _check_part(before, after, old, new, form)


def _check_part(before: Part, after: Part, old: Variant, new: Variant, form: str) -> None:
    where = (old.item, before.id)
    # Canvas's blanks and pairs have no feedback of their own
    has_feedback = form == "olx" or (before.type.endswith("choice") and len(old.parts) == 1)
    if before.type in ("single_choice", "multiple_choice"):
        assert _options(after, has_feedback) == _options(before, has_feedback), where
    elif before.type in ("ordering", "matching"):
        words = answer_type(before.type).key_words
        assert close(words(after)) == close(words(before)), where
        if has_feedback:
            told = [
                {close(p.text.plain): close(p.feedback) for p in part.prompts} for part in (before, after)
            ]
            assert told[0] == told[1], where
            assert after.settings.get("feedback", "") == before.settings.get("feedback", ""), where
    else:
        right = {part.id: right_response(part) for part in new.parts}
        response = Response({**right, after.id: right_response(before)})
        graded = grade_answers(new, response, mode=Mode.PRACTICE, student=None)
        assert graded.outcome is Outcome.RIGHT, where
    if before.key is not None and after.key is not None:
        assert after.key.shape == before.key.shape, where
        _check_bounds(before, after, where, form)


def _options(part: Part, has_feedback: bool) -> dict[str, tuple[bool, str]]:
    return {
        close(option.text.plain): (option.correct, close(option.feedback) if has_feedback else "")
        for option in part.options
    }


def _check_bounds(before: Part, after: Part, where: object, form: str) -> None:
    sides = [[list(map(float, p.settings[side])) for side in ("lower", "upper")] for p in (before, after)]
    widths = [high - low for low, high in zip(*sides[0], strict=True)]
    for n, place in enumerate(before.settings["places"]):
        # a blank lists numbers with the decimals that are asked for: what rounds to them is known, no more
        unit = 10.0**-place if form == "canvas" and place is not None else 0.0
        for side in (0, 1):
            # entries of a vector share the least tolerance of all
            off = abs(sides[0][side][n] - sides[1][side][n])
            assert off <= (widths[n] - min(widths)) / 2 + unit + 1e-5, (where, n, sides)
