"""What can't be fitted is said: few students or items, constant items, partial credit, no maximum."""

from __future__ import annotations

import numpy as np
import pytest

from engine.analysis.statistics import ScoreMatrix
from engine.analysis.statistics.irt import (
    IrtModel,
    ModelFit,
    NoFit,
    SlopeTest,
    abilities,
    compared,
    fit_model,
    item_fits,
    pattern_fit,
)
from tests.oracles import lsat

NAN = float("nan")
MODELS = list(IrtModel)


def simulated(students: int, items: int, seed: int, slope: float = 1.2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    odds = slope * rng.normal(size=(students, 1)) + np.linspace(-1, 1, items)
    return (rng.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(float)


def named(answers: np.ndarray) -> ScoreMatrix:
    return ScoreMatrix([f"i{column}" for column in range(answers.shape[1])], answers)


@pytest.mark.parametrize("model", MODELS)
def test_under_200_students_there_is_no_fit(model: IrtModel) -> None:
    answers = simulated(200, 6, 1)
    assert isinstance(fit_model(named(answers), model), ModelFit)
    assert fit_model(named(answers[:199]), model) == NoFit(
        "only 199 students answered, 200 are needed", 199, {}
    )


def test_who_was_given_nothing_is_no_student() -> None:
    answers = np.concatenate([simulated(199, 6, 1), np.full((50, 6), NAN)])
    found = fit_model(named(answers), IrtModel.RASCH)
    assert isinstance(found, NoFit) and found.students == 199
    assert "only 199 students" in found.reason


def test_items_that_cant_be_used_are_left_out_with_the_reason() -> None:
    answers = np.concatenate([simulated(300, 4, 2), np.ones((300, 1)), np.zeros((300, 1))], axis=1)
    few = np.where(np.arange(300) < 150, answers[:, 0], NAN)
    answers = np.column_stack([answers, few, np.full(300, NAN), answers[:, 1] / 2])
    fit = fit_model(named(answers), IrtModel.TWO_PARAMETERS)
    assert isinstance(fit, ModelFit)
    assert [item.item for item in fit.items] == ["i0", "i1", "i2", "i3"]
    assert fit.left_out == {
        "i4": "all answers are right",
        "i5": "no answer is right",
        "i6": "only 150 students were given it, 200 are needed",
        "i7": "nobody was given it",
        "i8": "it has partial credit",
    }


def test_partial_credit_is_fitted_by_a_stated_rule_only() -> None:
    answers = simulated(400, 5, 3)
    half = ScoreMatrix(
        list("abcde"), np.where(answers == 1, 4, np.where(np.arange(400)[:, None] % 2, 1, 0)), [4] * 5
    )
    assert fit_model(half, IrtModel.RASCH) == NoFit(
        "only 0 items can be used, 3 are needed", 400, dict.fromkeys("abcde", "it has partial credit")
    )
    fit, plain = (
        fit_model(half, IrtModel.RASCH, partial_credit=0.5),
        fit_model(named(answers), IrtModel.RASCH),
    )
    assert isinstance(fit, ModelFit) and isinstance(plain, ModelFit)
    assert fit.partial_credit == 0.5 and plain.partial_credit is None
    assert fit.log_likelihood == pytest.approx(plain.log_likelihood)
    assert abilities(fit, half).theta == pytest.approx(abilities(plain, named(answers)).theta)


def test_two_items_are_too_few() -> None:
    found = fit_model(named(simulated(300, 2, 4)), IrtModel.TWO_PARAMETERS)
    assert found == NoFit("only 2 items can be used, 3 are needed", 300, {})


def test_two_items_that_are_the_same_have_no_finite_slope() -> None:
    """One of a pair that was copied is left out, and the others are fitted as if it weren't there."""
    answers = simulated(500, 6, 5)
    fit = fit_model(named(np.column_stack([answers, answers[:, 2]])), IrtModel.TWO_PARAMETERS)
    assert isinstance(fit, ModelFit) and fit.converged
    assert len(fit.left_out) == 1 and set(fit.left_out) <= {"i2", "i6"}
    assert "grows without end" in next(iter(fit.left_out.values()))
    plain = fit_model(named(answers), IrtModel.TWO_PARAMETERS)
    assert isinstance(plain, ModelFit)
    assert fit.log_likelihood == pytest.approx(plain.log_likelihood)


def test_a_perfect_ladder_has_no_common_slope() -> None:
    """Who solves an item solves all easier ones: the likelihood grows with the slope for ever."""
    ladder = np.tril(np.ones((5, 4)), -1)
    found = fit_model(named(np.repeat(ladder, 60, axis=0)), IrtModel.RASCH)
    assert isinstance(found, ModelFit)
    assert not found.converged
    assert found.problems == ("the common slope grows without end: don't use the parameters",)
    assert all(item.slope_error is None and item.difficulty_error is None for item in found.items)


def test_students_with_one_item_each_determine_no_slope() -> None:
    answers = simulated(900, 3, 6)
    answers[np.arange(3) != np.arange(900)[:, None] % 3] = NAN
    found = fit_model(named(answers), IrtModel.TWO_PARAMETERS)
    assert isinstance(found, ModelFit)
    assert found.problems and ("determine" in found.problems[0] or "converge" in found.problems[0])
    assert all(item.slope_error is None for item in found.items)


def test_items_without_anything_in_common_are_told() -> None:
    """Four coins, and every pair of them against each other a little more often than by chance."""
    codes = [code for code in range(16) for _ in range(25 + (bin(code).count("1") == 2) * 10)]
    answers = np.array([[code >> item & 1 for item in range(4)] for code in codes], float)
    found = fit_model(named(answers), IrtModel.RASCH)
    assert isinstance(found, ModelFit)
    assert found.slopes == pytest.approx(np.zeros(4), abs=1e-4)
    assert any("nothing in common" in problem for problem in found.problems)
    assert all(item.difficulty is None for item in found.items)


def test_fit_needs_students_with_all_items_and_patterns_need_many() -> None:
    answers = simulated(400, 5, 7)
    gaps = answers.copy()
    gaps[:250, 0] = NAN
    fit = fit_model(named(gaps), IrtModel.RASCH, fewest_students=100)
    assert isinstance(fit, ModelFit)
    found = item_fits(fit, named(gaps))
    assert isinstance(found, NoFit) and found.students == 150
    assert isinstance(item_fits(fit, named(gaps), fewest_students=150), tuple)
    sparse = pattern_fit(fit, named(gaps))
    assert sparse == NoFit("150 students are too few for the 2^5 possible answers to 5 items", 150, {})
    long = fit_model(named(simulated(300, 20, 8)), IrtModel.RASCH)
    assert isinstance(long, ModelFit)
    assert isinstance(pattern_fit(long, named(simulated(300, 20, 8))), NoFit)


def test_three_items_leave_no_freedom_to_test() -> None:
    answers = lsat.answers(lsat.SECTION_7)[:, :3]
    fit = fit_model(named(answers), IrtModel.TWO_PARAMETERS)
    assert isinstance(fit, ModelFit)
    found = pattern_fit(fit, named(answers))
    assert not isinstance(found, NoFit) and found.df == 1
    fits = item_fits(fit, named(answers))
    assert isinstance(fits, tuple)
    assert all(item.df == 0 and item.probability is None for item in fits)


def test_only_these_two_models_of_the_same_class_are_compared() -> None:
    answers = simulated(400, 5, 9)
    rasch, own = (fit_model(named(answers), model) for model in (IrtModel.RASCH, IrtModel.TWO_PARAMETERS))
    other = fit_model(named(answers[:, :4]), IrtModel.TWO_PARAMETERS)
    assert isinstance(rasch, ModelFit) and isinstance(own, ModelFit) and isinstance(other, ModelFit)
    found = compared(rasch, own)
    assert isinstance(found, SlopeTest) and found.df == 4
    assert compared(rasch, other) == NoFit("the two models aren't of the same items and students", 400, {})
    for wrong in ((own, rasch), (rasch, rasch)):
        with pytest.raises(ValueError, match="Rasch"):
            compared(*wrong)


def test_of_no_students_there_are_no_abilities() -> None:
    fit = fit_model(named(simulated(300, 4, 10)), IrtModel.RASCH)
    assert isinstance(fit, ModelFit)
    nobody = abilities(fit, named(np.zeros((0, 4))))
    assert nobody.theta.shape == nobody.error.shape == (0,) and nobody.reliability is None
    unasked = abilities(fit, named(np.full((2, 4), NAN)))
    assert np.isnan(unasked.theta).all() and unasked.reliability is None
