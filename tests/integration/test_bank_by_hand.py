"""Keys of drawn variants, computed again by hand.

The hand computation uses neither the reference nor the key expressions nor torch: plain Python loops over
the drawn decimals, written from the lectures' equations. More of it stands in ``tests.oracles``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from engine.grading import grade_answers
from engine.model import Drawn, Mode, Part, Response, Variant
from engine.spec import builtin_bank, item_version
from engine.variants import draw_seeded
from engine.variants.expressions import evaluate
from engine.variants.values import as_tensor
from tests.oracles.bank_alignment import ALIGNMENT_AND_COUNTING
from tests.oracles.bank_attention import ATTENTION_AND_COST
from tests.oracles.bank_decoding import DECODING_AND_RECURRENCE
from tests.oracles.bank_scores import SCORES_AND_WEIGHTS
from tests.oracles.loops import softmax

Numbers = dict[str, Any]
SEEDS = range(12)


def nested(drawn: Drawn) -> Any:
    """Return a drawn value as (nested lists of) fractions, or words."""
    entries: list[Any] = [x if drawn.text else Fraction(x) for x in drawn.entries]
    for size in reversed(drawn.shape[1:]):
        entries = [entries[i : i + size] for i in range(0, len(entries), size)]
    return entries if drawn.shape else entries[0]


def times(matrix: Any, vector: Any) -> list[float]:
    return [sum(float(m) * float(x) for m, x in zip(row, vector, strict=True)) for row in matrix]


def mix(weights: Any, states: Any) -> list[float]:
    return [
        sum(float(w) * float(state[i]) for w, state in zip(weights, states, strict=True))
        for i in range(len(states[0]))
    ]


def added(*vectors: list[float]) -> list[float]:
    return [sum(entries) for entries in zip(*vectors, strict=True)]


def tanh(vector: list[float]) -> list[float]:
    return [(math.exp(2 * x) - 1) / (math.exp(2 * x) + 1) for x in vector]


def scores_of(x: Numbers) -> list[float]:
    """S0 (4) with the vector v in front, so that it is a number."""
    from_state = times(x["W_s"], x["s"])
    return [
        sum(float(v) * t for v, t in zip(x["v"], tanh(added(times(x["W_h"], h), from_state)), strict=True))
        for h in x["H"]
    ]


def scaled_scores(queries: Any, keys: Any) -> list[list[float]]:
    return [
        [float(sum(a * b for a, b in zip(q, k, strict=True))) / math.sqrt(len(q)) for k in keys]
        for q in queries
    ]


def full_step(x: Numbers) -> Numbers:
    e = scores_of(x)
    w = softmax(e)
    c = mix(w, x["H"])
    state = tanh(added(times(x["Wx"], c + [float(a) for a in x["y"]]), times(x["Ws"], x["s"])))
    return {"e": e, "w": w, "c": c, "s_new": state, "P": softmax(times(x["Wy"], state))}


def row_after(table: Any, prefix: tuple[int, ...]) -> Any:
    """Rows stand in the order (), (0), (1) … (0,0) …"""
    size = len(table[0])
    shorter = sum(size**i for i in range(len(prefix)))
    place = 0
    for token in prefix:
        place = place * size + token
    return table[shorter + place]


def probability(table: Any, tokens: tuple[int, ...]) -> Fraction:
    return math.prod((row_after(table, tokens[:i])[t] for i, t in enumerate(tokens)), start=Fraction(1))


def depth_of(table: Any) -> int:
    size, rows, depth = len(table[0]), 0, 0
    while rows < len(table):
        rows += size**depth
        depth += 1
    return depth


def greedy(table: Any) -> tuple[int, ...]:
    tokens: tuple[int, ...] = ()
    while len(tokens) < depth_of(table):
        row = row_after(table, tokens)
        tokens += (max(range(len(row)), key=lambda i, row=row: row[i]),)
    return tokens


def beam(table: Any, width: int) -> tuple[int, ...]:
    kept: list[tuple[int, ...]] = [()]
    for _ in range(depth_of(table)):
        longer = [(*old, token) for old, token in product(kept, range(len(table[0])))]
        kept = sorted(longer, key=lambda t: -probability(table, t))[:width]
    return kept[0]


def spelled(tokens: tuple[int, ...]) -> str:
    return " ".join("ABC"[t] for t in tokens)


HAND: dict[str, Callable[[Numbers], Numbers]] = {
    "l16-ex1-context-vector": lambda x: {"answer": mix(x["w"], x["H"])},
    "l16-ex3-softmax-weights": lambda x: {"answer": softmax(x["e"])},
    "l16-ex5-alignment-vector": lambda x: {
        "answer": tanh(added(times(x["W1"], x["h"]), times(x["W2"], x["s"])))
    },
    "context-vector": lambda x: {"answer": mix(x["w"], x["H"])},
    "softmax-weights": lambda x: {"answer": softmax(x["e"])},
    "l16-alignment-vector": lambda x: {"answer": tanh(added(times(x["W1"], x["h"]), times(x["W2"], x["s"])))},
    "scaled-dot-score": lambda x: {"answer": [scaled_scores([x["q"]], [x["k"]])[0][0]]},
    "decoder-state": lambda x: {
        "answer": tanh(added(times(x["Wx"], x["c"] + x["y"]), times(x["Ws"], x["s"])))
    },
    "decoder-output": lambda x: {"answer": softmax(times(x["Wy"], x["s_new"]))},
    "sdpa-matrix": lambda x: {"answer": [mix(softmax(row), x["V"]) for row in scaled_scores(x["Q"], x["K"])]},
    "self-attention-weights": lambda x: {"answer": [softmax(row) for row in scaled_scores(x["X"], x["X"])]},
    "l16-full-pass": lambda x: {
        "e": scores_of(x),
        "w": softmax(scores_of(x)),
        "c": mix(softmax(scores_of(x)), x["H"]),
    },
    "decoder-full-step": full_step,
    "greedy-path": lambda x: {"answer": spelled(greedy(x["T"]))},
    "beam-vs-greedy-sequence": lambda x: {
        "greedy": spelled(greedy(x["T"])),
        "beam": spelled(beam(x["T"], 2)),
        "p": [float(probability(x["T"], beam(x["T"], 2)))],
    },
    **SCORES_AND_WEIGHTS,
    **ALIGNMENT_AND_COUNTING,
    **ATTENTION_AND_COST,
    **DECODING_AND_RECURRENCE,
}


def variants_of(item: str) -> list[Variant]:
    bank = builtin_bank()
    spec = bank.load(item)
    version = item_version(spec, bank.path(item))
    seeds = SEEDS if spec.variants != 1 else range(1)
    return [draw_seeded(spec, version=version, registry=bank.registry(), seed=seed) for seed in seeds]


def flat(value: Any) -> list[float]:
    return [float(x) for row in value for x in (row if isinstance(row, list) else [row])]


def key_of(part: Part) -> Any:
    """Return the key of a part as the variant holds it: numbers in C order, or texts."""
    if part.type == "single_choice":
        (right,) = [option for option in part.options if option.correct]
        assert part.key_ids == (right.id,)
        assert right.value is not None
        return right.value.data
    return part.key.data if part.key is not None else part.key_ids


def is_computed(part: Part) -> bool:
    """Tell whether a part has a computed key, rather than options, cards or prompts written by hand."""
    computed = {"single_choice"} if all(option.value for option in part.options) else set()
    return part.type in {"number", "vector", "matrix", "token", *computed}


@pytest.mark.parametrize("item", sorted(HAND))
def test_keys_equal_the_hand_computation(item: str) -> None:
    for variant in variants_of(item):
        expected = HAND[item]({name: nested(drawn) for name, drawn in variant.values.items()})
        parts = [part for part in variant.parts if is_computed(part)]
        assert set(expected) == {part.id for part in parts}
        for part in parts:
            wanted = expected[part.id]
            if isinstance(wanted, str):
                assert wanted in key_of(part)
            else:
                assert list(key_of(part)) == pytest.approx(flat(wanted), abs=1e-12)


def test_every_computed_item_of_the_bank_is_recomputed_here() -> None:
    bank = builtin_bank()
    computed = set()
    for item in bank.ids():
        spec = bank.load(item)
        answers = [spec.answer, *(step.answer for step in spec.steps)]
        if any(getattr(answer, "key", None) is not None for answer in answers):
            computed.add(item)
    assert computed == set(HAND)


def test_beam_item_serves_tables_where_the_searches_differ() -> None:
    for variant in variants_of("beam-vs-greedy-sequence"):
        table = nested(variant.values["T"])
        assert greedy(table) != beam(table, 2)
        assert probability(table, beam(table, 2)) > probability(table, greedy(table))


WORKED: Numbers = {
    "W_s": [[0.5, 0], [0.2, 0.4]],
    "W_h": [[0.3, -0.2], [0.1, 0.6]],
    "v": [1, 2],
    "H": [[1, 0], [0, 1], [1, 1]],
    "s": [0.5, -0.5],
    "y": [1, 0],
    "Wx": [[0.4, -0.3, 0.2, 0.1], [0.1, 0.5, -0.2, 0.3]],
    "Ws": [[0.2, 0.1], [-0.1, 0.3]],
    "Wy": [[1, 0], [0, 1], [1, -1]],
}


def test_worked_instance_of_the_decoder_step() -> None:
    """One full pass: what equations (4)-(8) give, to six decimals."""
    worked = full_step(WORKED)
    assert worked["e"] == pytest.approx([0.500520, 0.974193, 1.410475], abs=6e-7)
    assert worked["w"] == pytest.approx([0.196460, 0.315492, 0.488048], abs=6e-7)
    assert worked["c"] == pytest.approx([0.684508, 0.803540], abs=6e-7)
    assert worked["s_new"] == pytest.approx([0.275440, 0.070106], abs=6e-7)
    assert worked["P"] == pytest.approx([0.364077, 0.296495, 0.339428], abs=6e-7)


def test_the_item_gives_the_worked_instance() -> None:
    """The key expressions of decoder-full-step on the worked instance, stage by stage."""
    spec = builtin_bank().load("decoder-full-step")
    names = {name: as_tensor(value) for name, value in WORKED.items()}
    by_hand = full_step(WORKED)
    for step in spec.steps:
        assert step.answer is not None
        names[step.id] = evaluate(step.answer.key, names)  # type: ignore[union-attr]
        assert names[step.id].tolist() == pytest.approx(by_hand[step.id], abs=1e-12)


# --- follow-through: a student who makes one mistake and works on with it -----------------------


def entered(values: list[float], decimals: int) -> str:
    return "[" + ", ".join(f"{value:.{decimals}f}" for value in values) + "]"


def marks(variant: Variant, answers: dict[str, str]) -> dict[str, float]:
    report = grade_answers(variant, Response(answers), mode=Mode.PRACTICE, student=None)
    return {check.id: check.points / check.max_points for check in report.checks if check.max_points}


def test_scores_without_v_cost_only_their_own_step() -> None:
    for variant in variants_of("l16-full-pass"):
        x = {name: nested(drawn) for name, drawn in variant.values.items()}
        scores = scores_of({**x, "v": [1, 1]})
        weights = [round(w, 3) for w in softmax([round(e, 3) for e in scores])]
        answers = {
            "e": entered(scores, 3),
            "w": entered(weights, 3),
            "c": entered(mix(weights, x["H"]), 2),
        }
        report = grade_answers(variant, Response(answers), mode=Mode.PRACTICE, student=None)
        assert marks(variant, answers) == {"e": 0.0, "w": 1.0, "c": 1.0}
        assert [d.misconception for d in report.diagnosis] == ["m-no-v"]


def test_a_swapped_concatenation_costs_only_the_state() -> None:
    for variant in variants_of("decoder-full-step"):
        x = {name: nested(drawn) for name, drawn in variant.values.items()}
        right = full_step(x)
        swapped = tanh(added(times(x["Wx"], [*map(float, x["y"]), *right["c"]]), times(x["Ws"], x["s"])))
        answers = {
            "e": entered(right["e"], 4),
            "w": entered(right["w"], 4),
            "c": entered(right["c"], 3),
            "s_new": entered(swapped, 3),
            "P": entered(softmax(times(x["Wy"], [round(value, 3) for value in swapped])), 3),
        }
        assert marks(variant, answers) == {"e": 1.0, "w": 1.0, "c": 1.0, "s_new": 0.0, "P": 1.0}


def test_weights_that_do_not_sum_to_one_are_not_carried_forward() -> None:
    (variant, *_) = variants_of("l16-full-pass")
    x = {name: nested(drawn) for name, drawn in variant.values.items()}
    scores = scores_of(x)
    weights = [1 / (1 + math.exp(-e)) for e in scores]
    answers = {"e": entered(scores, 3), "w": entered(weights, 3), "c": entered(mix(weights, x["H"]), 2)}
    assert marks(variant, answers) == {"e": 1.0, "w": 0.0, "c": 0.0}
