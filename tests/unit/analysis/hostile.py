"""A class in which every name, text and title wants to break out of its place."""

from __future__ import annotations

import random

from engine.analysis.class_report import ItemReport, build
from engine.analysis.first_attempts import collect
from engine.analysis.mistakes import KnownMistakes
from engine.model import Mode, Outcome, Verdict
from engine.store import Store
from tests.unit.analysis.classes import choice, code, hand_in, single, variant

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e'\"&{{ 7*7 }}$x_1$"
WRONG = [f"wrong {HOSTILE}", "other", ""]
KNOWN = KnownMistakes({"m-one": f"A mistake {HOSTILE}"}, {})


def fill(store: Store, students: int) -> None:
    """Put a quiz of six items, one of two fields, and code into a store."""
    rng = random.Random(3)
    with store.bulk():
        for at in range(students):
            able = rng.gauss(0, 1)

            def says(level: float, able: float = able) -> bool:
                return rng.gauss(able, 1) > level

            questions = [
                (
                    choice(
                        f"item-{number}",
                        "right",
                        {f"wrong {HOSTILE}": "m-one", "other": ""},
                        turn=at,
                        values={"d": f"{2 + at % 2}"},
                    ),
                    {
                        "answer": "right"
                        if says(number / 2 - 1)
                        else rng.choice([f"wrong {HOSTILE}", "other", ""])
                    },
                )
                for number in range(5)
            ]
            parts = [single("p", {"q": ""}, part="scores"), single("u", {"w": "m-one"}, part="weights")]
            steps = {"scores": "p" if says(0) else "q", "weights": "u" if says(0) else "w"}
            hand_in(
                store, f"{HOSTILE}{at}", f"week {HOSTILE}", [*questions, (variant("steps", parts), steps)]
            )
            code(
                store,
                f"{HOSTILE}{at}",
                "softmax",
                {"loads": Verdict.PASSED, "values": Verdict.PASSED if says(0) else Verdict.FAILED},
                mistakes=["m-one"] if at % 5 == 0 else [],
            )
        code(store, "zoe", "sdpa", {"loads": Verdict.PASSED}, outcome=Outcome.UNGRADED)


def made(store: Store) -> ItemReport:
    """Return the report of a store."""
    collected = collect(store, Mode.MARKS, title_of=lambda item: f"Title {HOSTILE}")
    return build(collected, KNOWN, title=HOSTILE, mode="marks", title_of=lambda test: f"Test {HOSTILE}")
