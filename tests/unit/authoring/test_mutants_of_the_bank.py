"""No program that the operators make of the bank's solutions passes its rubric unless it is declared right.

Each run tries a twentieth of them on one plan; ``make sweep`` tries all of them on all of lint's plans.
"""

from __future__ import annotations

import os
import time

import pytest

from engine.authoring.lint.rules.code_exercises import PLANS
from engine.authoring.mutation.generated import generated_mutants
from engine.authoring.mutation.survey import matches, survey_mutants
from engine.authoring.mutation.trials import TrialJob, try_programs
from engine.code import exercise_of
from engine.items import CodeAnswer, builtin_bank

pytestmark = pytest.mark.slow

BANK = builtin_bank()
ITEMS = BANK.code_ids()
EVERY = int(os.environ.get("SOFTMARK_MUTANTS_EVERY", "20"))
LONGEST_S = 3600.0


@pytest.mark.parametrize("item", ITEMS)
def test_no_generated_mutant_passes_undeclared(item: str) -> None:
    exercise, spec, folder = exercise_of(BANK, item), BANK.load(item), BANK.path(item).parent
    assert isinstance(spec.answer, CodeAnswer)
    if EVERY == 1:
        survey = survey_mutants(spec, folder, exercise, PLANS, seconds=LONGEST_S)
        assert [entry.mutant.id for entry in survey.with_verdict("survives")] == []
        assert (survey.untried, survey.idle) == ((), ())
        return
    turn = ITEMS.index(item)  # so that neither the same operators nor the same plans are tried everywhere
    mutants = sorted(generated_mutants(exercise.solutions, exercise.function), key=lambda mutant: mutant.id)
    sample = mutants[turn % EVERY :: EVERY]
    job = TrialJob(spec, folder, exercise.version, (PLANS[turn % len(PLANS)],))
    deadline = time.monotonic() + LONGEST_S
    tried = dict(try_programs(job, [mutant.source for mutant in sample], deadline=deadline, children=1))
    assert len(tried) == len(sample) >= len(mutants) // EVERY > 0
    declared = [
        mutant for mutant in sample if any(matches(entry, mutant) for entry in spec.answer.equivalent)
    ]
    passing = [mutant for place, mutant in enumerate(sample) if not all(tried[place])]
    assert [mutant.id for mutant in passing if mutant not in declared] == []
