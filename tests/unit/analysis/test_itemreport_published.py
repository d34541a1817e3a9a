"""Section 6 of the Law School Admission Test, handed in as a quiz, gives the published numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.analysis.class_report import build
from engine.analysis.first_attempts import collect
from engine.analysis.mistakes import KnownMistakes
from engine.analysis.report_tables import as_json
from engine.course import StudentLabels
from engine.model import Mode
from engine.store import open_store
from tests.oracles import lsat
from tests.unit.analysis.classes import binary_quiz

pytestmark = pytest.mark.slow

ITEMS = ["item-1", "item-2", "item-3", "item-4", "item-5"]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path: Path = tmp_path_factory.mktemp("lsat") / "store.db"
    with open_store(path) as store:
        binary_quiz(store, "lsat", lsat.answers(lsat.SECTION_6).astype(int).tolist(), ITEMS)
        collected = collect(store, Mode.MARKS, title_of=str)
    report = build(collected, KnownMistakes({}, {}), title="LSAT", mode="marks", title_of=lambda test: "LSAT")
    found = json.loads(json.dumps(as_json(report, StudentLabels({}))))
    assert isinstance(found, dict)
    return found


def test_classical_figures(document: dict[str, Any]) -> None:
    (test,) = document["tests"]
    items = test["items"]
    assert [item["item"] for item in items] == ITEMS
    assert test["students"] == 1000
    assert [item["difficulty"] for item in items] == pytest.approx(lsat.SHARE, abs=1e-9)
    assert [item["item_total"] for item in items] == pytest.approx(lsat.WITH_ITEM, abs=5e-5)
    assert [item["item_rest"] for item in items] == pytest.approx(lsat.WITHOUT_ITEM, abs=5e-5)
    assert test["alpha"] == pytest.approx(lsat.ALPHA, abs=5e-5)
    assert [item["alpha_without"] for item in items] == pytest.approx(lsat.ALPHA_WITHOUT, abs=5e-5)
    # all 298 of the last pattern have full marks, and they are the only ones
    assert test["histogram"]["students"] == [3, 20, 85, 237, 357, 298]


def test_models(document: dict[str, Any]) -> None:
    models = document["tests"][0]["models"]
    own, rasch = models["2pl"], models["rasch"]
    assert own["log_likelihood"] == pytest.approx(lsat.LOG_LIKELIHOOD, abs=5e-4)
    assert [item["difficulty"] for item in own["items"]] == pytest.approx(lsat.DIFFICULTY, abs=5e-3)
    assert [item["slope"] for item in own["items"]] == pytest.approx(lsat.SLOPE, abs=5e-3)
    assert {round(item["slope"], 3) for item in rasch["items"]} == {lsat.COMMON_SLOPE}
    assert [item["intercept"] for item in rasch["items"]] == pytest.approx(lsat.COMMON_INTERCEPTS, abs=5e-3)
    assert (own["aic"], own["bic"]) == pytest.approx((lsat.AIC, lsat.BIC), abs=2e-3)
    # 5 slopes explain little more than one: the Rasch model is shown
    assert models["comparison"]["df"] == 4
    assert models["comparison"]["probability"] > 0.9
    assert models["shown"] == "rasch"


def test_observed_shares_lie_on_the_curves_of_a_model_that_fits(document: dict[str, Any]) -> None:
    import math

    for item in document["tests"][0]["models"]["rasch"]["items"]:
        assert len(item["observed"]) >= 6
        for point in item["observed"]:
            odds = item["slope"] * point["theta"] + item["intercept"]
            assert point["share"] == pytest.approx(1 / (1 + math.exp(-odds)), abs=0.03)


def test_shuffled_letters_are_one_option(document: dict[str, Any]) -> None:
    first = document["tests"][0]["items"][0]
    (options,) = first["options"]
    assert [(c["option"], c["is_key"], c["students"]) for c in options["choices"]] == [
        ("yes", True, 924),
        ("no", False, 76),
    ]
    assert options["choices"][0]["point_biserial"] == pytest.approx(lsat.WITHOUT_ITEM[0], abs=5e-5)
    assert options["choices"][1]["point_biserial"] == pytest.approx(-lsat.WITHOUT_ITEM[0], abs=5e-5)
