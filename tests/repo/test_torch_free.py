"""Keys, marks and plans are computed without torch: who draws or grades doesn't wait until it's imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

_QUIZ_ITEMS = """
import sys
from engine.grading import grade_answers
from engine.items import builtin_bank
from engine.authoring.lint.rules.responses import right_answers
from engine.model import Mode, Outcome, Response
from engine.variants import draw_seeded

bank = builtin_bank()
registry, marked = bank.registry(), 0
for item in sorted(set(bank.ids()) - set(bank.code_ids())):
    variant = draw_seeded(bank.load(item), version="1", registry=registry, seed=3)
    answers = right_answers(variant)
    report = grade_answers(variant, Response(answers), mode=Mode.MARKS, student=None)
    assert report.outcome is Outcome.RIGHT or report.needs_person, item
    wrong = Response({part: "7" for part in answers})
    grade_answers(variant, wrong, mode=Mode.MARKS, student=None)
    marked += 1
print(marked, "torch" in sys.modules)
"""

_PLANS = """
import sys
from engine.items import builtin_bank
from engine.code.exercise import exercise_of, freeze_plan

bank = builtin_bank()
gradients = 0
for item in bank.code_ids():
    plan = freeze_plan(exercise_of(bank, item), b"seed")
    gradients += sum(bool(case.expected and case.expected.gradients) for case in plan.cases)
print(gradients, "torch" in sys.modules)
"""


@pytest.mark.parametrize("script", [_QUIZ_ITEMS, _PLANS], ids=["quiz items", "plans"])
def test_nothing_is_drawn_or_marked_with_torch(script: str) -> None:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, brings_torch = done.stdout.split()
    assert int(count) > 20 and brings_torch == "False"
