"""QTI 3.0: what our own export writes comes back as it was, and items of other tools do what they did there."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from engine.answers import answer_type, right_response
from engine.authoring.importing.foreign_question import decode_source
from engine.authoring.importing.import_file import import_file
from engine.authoring.importing.item_drafts import ImportReport
from engine.authoring.importing.qti3 import read_qti3
from engine.errors import ExchangeError
from engine.export.drawn_families import draw_families, wanted_items
from engine.export.exported_item import ExportedFamily, ExportedQuiz, exported_item
from engine.export.formats import quiz_format
from engine.grading import grade_answers
from engine.items import load_spec
from engine.items.bank import builtin_bank
from engine.model import Mode, Outcome, Part, Response, Variant
from engine.variants import draw_seeded
from tests.unit.importing.files_read import Importing

BANK = builtin_bank()
QTI3 = quiz_format("qti3")


def drawn(item: str, seed: int = 0, **settings: object) -> Variant:
    variant = draw_seeded(BANK.load(item), version="v", registry=BANK.registry(), seed=seed)
    parts = tuple(replace(part, settings={**part.settings, **settings}) for part in variant.parts)
    return replace(variant, parts=parts) if settings else variant


def family(*variants: Variant) -> ExportedFamily:
    spec = BANK.load(variants[0].item)
    items = tuple(exported_item(f"{spec.id}-{n:03}", variant) for n, variant in enumerate(variants, 1))
    tags = (*spec.topics, f"difficulty-{spec.difficulty}", spec.bloom, spec.id)
    return ExportedFamily(spec.id, spec.title, spec.topics[:1], tags, items[0].points, "", items)


def package(*families: ExportedFamily) -> bytes:
    return QTI3.write(ExportedQuiz("quiz", "Week 3", families), lambda: None)


def read_back(tmp_path: Path, *families: ExportedFamily) -> ImportReport:
    path = tmp_path / "quiz.zip"
    path.write_bytes(package(*families))
    return import_file(path, tmp_path / "out", BANK)


def again(path: Path) -> Variant:
    return draw_seeded(load_spec(path, registry=BANK.registry()), version="v", registry={}, seed=0)


def close(text: str) -> str:
    """Return a text without blanks: MathML doesn't keep those that TeX ignores."""
    return "".join(text.split())


# --- our own export ---


def test_the_whole_bank_comes_back(tmp_path: Path) -> None:
    variants = {item: drawn(item) for item in BANK.ids() if BANK.load(item).kind != "code"}
    report = read_back(tmp_path, *map(family, variants.values()))
    assert (report.skipped, report.faults, report.format) == ((), (), "qti3")
    assert len(report.items) == len(variants)
    by_file = {f"items/{name}-001.xml": variant for name, variant in variants.items()}
    compared = 0
    for item in report.items:
        old, new = by_file[item.place.file], again(item.path)
        spec, original = load_spec(item.path, registry=BANK.registry()), BANK.load(old.item)
        assert (spec.difficulty, spec.bloom, spec.topics) == (
            original.difficulty,
            original.bloom,
            original.topics,
        )
        assert [close(hint.plain) for hint in new.hints] == [close(hint.plain) for hint in old.hints], (
            old.item
        )
        assert new.points == pytest.approx(old.points), old.item
        assert [part.type for part in new.parts] == [part.type for part in old.parts], old.item
        if "<figure" not in old.stem.html and len(old.parts) == 1:
            assert close(new.stem.plain).startswith(close(old.stem.plain)), old.item
        if old.solution is not None and "<figure" not in old.solution.html:
            assert close(new.solution.plain).startswith(close(old.solution.plain)), old.item  # type: ignore[union-attr]
        for before, after in zip(old.parts, new.parts, strict=True):
            compared += 1
            assert after.points == pytest.approx(before.points), old.item
            check_part(before, after, old, new)
            # two mistakes that give the same number are one here, as a note says
            if not any("lies too near" in note.message for note in item.notes):
                assert mistakes(after) == mistakes(before), (old.item, before.id)
    assert compared >= 180


def check_part(before: Part, after: Part, old: Variant, new: Variant) -> None:
    where = (old.item, before.id)
    for setting in ("policy", "partial", "near_credit", "order_credit", "case_sensitive", "unit"):
        if before.type != "number" or setting != "partial":
            assert after.settings.get(setting) == before.settings.get(setting), (*where, setting)
    if before.type in ("single_choice", "multiple_choice"):
        assert described(after) == described(before), where
    elif before.type in ("ordering", "matching"):
        words = answer_type(before.type).key_words
        assert close(words(after)) == close(words(before)), where
        told = [{close(p.text.plain): close(p.feedback) for p in part.prompts} for part in (before, after)]
        assert told[0] == told[1], where
        assert after.settings.get("feedback", "") == before.settings.get("feedback", ""), where
    elif before.type == "free_text":
        assert [(c["title"], c["points"], len(c["levels"])) for c in after.settings["rubric"]] == [
            (c["title"], c["points"], len(c["levels"])) for c in before.settings["rubric"]
        ], where
    else:
        right = {part.id: right_response(part) for part in new.parts if part.type != "free_text"}
        response = Response({**right, after.id: right_response(before)})
        graded = grade_answers(new, response, mode=Mode.PRACTICE, student=None)
        if "free_text" not in [part.type for part in new.parts]:
            assert graded.outcome is Outcome.RIGHT, where
    if before.key is not None and after.key is not None:
        check_bounds(before, after, where)


def mistakes(part: Part) -> list[str]:
    """Return the feedback of the known mistakes that can be typed into a field."""
    shape = part.key.shape if part.key is not None else ()
    fitting = [k for k in part.known_wrong if k.value is None or k.value.shape == shape]
    return [known.feedback for known in fitting if known.feedback]


def check_bounds(before: Part, after: Part, where: object) -> None:
    size = len(before.key.data)  # type: ignore[union-attr]
    sides = [[list(map(float, p.settings[side])) for side in ("lower", "upper")] for p in (before, after)]
    widths = [high - low for low, high in zip(*sides[0], strict=True)]
    for n in range(size):
        for side in (0, 1):
            # entries of a vector share the least tolerance of all
            off = abs(sides[0][side][n] - sides[1][side][n])
            assert off <= (widths[n] - min(widths)) / 2 + 1e-5, (where, n, sides)


def described(part: Part) -> dict[str, tuple[bool, str]]:
    """Return the options; of several right ones players say nothing, and so does the package."""
    is_quiet = part.type == "multiple_choice"
    return {
        close(o.text.plain): (o.correct, "" if is_quiet and o.correct else close(o.feedback))
        for o in part.options
    }
