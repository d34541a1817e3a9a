"""``sample_tokens(logits, u, temperature, top_k, top_p)``: the tokens that given random numbers choose."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from engine.exercises import Exercise, RelationCall, array, optional, relation

# Weights are small whole numbers, so borders of intervals are fractions with small denominators; numbers of
# u and top_p are odd multiples of 1/1994 but 1/2, which lie at least 5e-7 away from those.
_PARTS = 997


def _logits(values, shape):
    # of many tokens the weights are smaller, so that their sum, squared too, stays below 997
    return np.log(values.integers(1, 12 if shape[0] < 8 else 3, shape))


def _numbers(values, shape):
    parts = values.integers(0, _PARTS - 2, shape)
    return (parts + (parts >= _PARTS // 2) + 0.5) / _PARTS  # 1/2 is left out: it may be a border


def _many_ties(call: dict[str, Any]) -> dict[str, Any]:
    # up to 16 entries an unstable sort may keep the order of equals by itself
    k = len(call["u"])
    u = (np.arange(k) * (_PARTS // k) + 0.5) / _PARTS
    logits = np.log(1.0 + np.arange(65) % 4)
    return {"logits": logits, "u": u, "temperature": 1.0, "top_k": 24, "top_p": None}


def _far_apart(call: dict[str, Any]) -> dict[str, Any]:
    # every other token has the probability 0, up to what a float can hold
    logits = call["logits"] - 4096.0 * (np.arange(len(call["logits"])) % 2)
    return {"logits": logits, "temperature": 1.0, "top_k": None, "top_p": None}


def _zero(call: dict[str, Any]) -> dict[str, Any]:
    # the running sum of the first tokens, which aren't left, is 0 as well
    rising, u = np.arange(len(call["logits"])) / 2, np.where(np.arange(len(call["u"])), call["u"], 0.0)
    return {"logits": rising, "u": u, "temperature": 1.0, "top_k": 2, "top_p": None}


@relation("With top_k=1 every number must choose the most probable token, the smallest id of equals.")
def best_alone(call: RelationCall) -> bool:
    return bool(np.all(call.again(top_k=1, top_p=None) == np.argmax(call.logits)))


@relation("A larger number must never choose a token with a smaller id.")
def in_order(call: RelationCall) -> bool:
    rising = np.log1p(np.arange(len(call.logits)))  # the order of the ids is that of a ranking turned round
    other = call.again(logits=rising, temperature=1.0, top_k=None, top_p=None)
    return all(np.all(np.diff(tokens[np.argsort(call.u)]) >= 0) for tokens in (call.result, other))


@relation("Each number must choose its token whatever the other numbers are.")
def one_by_one(call: RelationCall) -> bool:
    return bool(np.all(call.again(u=call.u[::-1].copy()) == call.result[::-1]))


@relation("Adding one number to all logits must change nothing, however large it is.")
def shift(call: RelationCall) -> bool:
    return bool(np.all(call.again(logits=call.logits + 8192) == call.result))


@relation("Doubled logits at twice the temperature must give the same tokens.")
def sharper(call: RelationCall) -> bool:
    plain = {"top_k": None, "top_p": 600.5 / _PARTS}
    doubled = call.again(logits=2 * call.logits, temperature=2.0, **plain)
    return bool(np.all(doubled == call.again(temperature=1.0, **plain)))


@relation("With top_p near 0 every number must choose the most probable token, whatever top_k is.")
def best_list(call: RelationCall) -> bool:
    return bool(np.all(call.again(top_k=len(call.logits), top_p=0.5 / _PARTS) == np.argmax(call.logits)))


@relation(
    "Of V equal logits, top_k and top_p must leave as many as they say, the smallest ids, with equal shares."
)
def equal(call: RelationCall) -> bool:
    V = len(call.logits)
    rules = [
        (2, None, 2),
        (None, 0.55, -int(-0.55 * V // 1)),
        (3, 0.55, 2),
    ]  # 0.55 lies between shares of 3 to 7
    tokens = [call.again(logits=np.zeros(V), top_k=k, top_p=p) for k, p, _ in rules]
    due = [np.floor(call.u * left) for *_, left in rules]
    return all(np.all(got == right) for got, right in zip(tokens, due, strict=True))


@relation("Asking for as many tokens as there are, with top_p=1, must be like asking for nothing.")
def all_left(call: RelationCall) -> bool:
    plain = call.again(top_k=None, top_p=None)
    return bool(np.all(call.again(top_k=len(call.logits), top_p=1.0) == plain))


@relation("No token may come that is less probable than top_k others.")
def most_probable(call: RelationCall) -> bool:
    return set(call.again(top_k=2, top_p=None)) <= set(np.argsort(-call.logits, kind="stable")[:2])


exercise = Exercise(
    {
        "logits": array("V", _logits),
        "u": array("k", _numbers),
        "temperature": optional(st.sampled_from([0.5, 1.0, 2.0]), default=1.0),
        "top_k": optional(st.sampled_from([None, 2, 3, 4])),
        "top_p": optional(st.sampled_from([None, 400.5 / _PARTS, 600.5 / _PARTS, 850.5 / _PARTS])),
    },
    returns="tokens",
    sizes={"V": st.sampled_from([5, 6, 7]), "k": st.sampled_from([8, 9])},
    size_long=["V", "k"],
    relations=[best_alone, best_list, most_probable, equal, in_order, one_by_one, all_left, sharper, shift],
    variations={
        "plain": lambda call: {"temperature": 1.0, "top_k": None, "top_p": None},
        "temperature": lambda call: {"temperature": 0.5, "top_k": None, "top_p": None},
        "top-k": lambda call: {"temperature": 1.0, "top_k": 3, "top_p": None},
        "top-p": lambda call: {"temperature": 1.0, "top_k": None, "top_p": 600.5 / _PARTS},
        "both": lambda call: {"temperature": 2.0, "top_k": 3, "top_p": 600.5 / _PARTS},
        "ties": lambda call: {"logits": np.log([2.0, 5, 5, 2, 5, 1])[: len(call["logits"])], "top_k": 2},
        "many-ties": _many_ties,
        "far-apart": _far_apart,
        "zero": _zero,
    },
    refuses={
        "temperature 0": lambda call: {"temperature": 0.0},
        "temperature below 0": lambda call: {"temperature": -1.0},
        "top_k 0": lambda call: {"top_k": 0},
        "top_k below 0": lambda call: {"top_k": -2},
        "top_p 0": lambda call: {"top_p": 0.0},
        "top_p above 1": lambda call: {"top_p": 1.5},
    },
)
