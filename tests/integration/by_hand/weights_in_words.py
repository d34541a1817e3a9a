"""Items on attention weights: the statements, each judged by working out what it says."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.words import Pairs, Pick, found
from tests.oracles.loops import context, softmax

__all__ = [
    "index_fault",
    "kinds",
    "limit",
    "limits_of_outputs",
    "no_mixture",
    "shifted",
    "survives",
    "what_follows",
]


def numbers_in(text: str) -> list[Fraction]:
    return [Fraction(n) for n in re.findall(r"-?\d+(?:\.\d+)?", text)]


def close(a: list[float], b: list[float], by: float = 1e-6) -> bool:
    return all(abs(p - q) < by for p, q in zip(a, b, strict=True))


def no_mixture(x: Numbers) -> Pick:
    """A point is a mixture of three others if it has positive barycentric coordinates."""
    (ax, ay), (bx, by), (cx, cy) = x["H"]
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)

    def outside(text: str) -> bool:
        px, py = numbers_in(text)
        second = ((px - ax) * (cy - ay) - (cx - ax) * (py - ay)) / area
        third = ((bx - ax) * (py - ay) - (px - ax) * (by - ay)) / area
        return min(1 - second - third, second, third) < 0

    return Pick(outside)


def index_fault(x: Numbers) -> Pick:
    """S3, display A: the sum runs over i and the summand has j. S3 (9): one j for the weight and the sum."""
    missing = x["which"] == "missing"
    truth = {
        "does not contain the index over which the sum runs": missing,
        "nothing in them changes with i.": missing,
        "belongs to position j; it should belong to position i": missing,
        "One letter stands for the position of the weight and for the index": not missing,
        "needs an index letter of its own": not missing,
        "On the left j is one position, and in the sum": not missing,
        "already stands for the position of the weight on the left": not missing,
        "does not contain the index of the sum, so all": missing,
        "exponential should be taken of the whole sum": False,
        "should run over the decoder steps": False,
        "leave its own score out of the sum": False,
        "exponents need a minus sign": False,
        "divided by the number of positions": False,
    }
    return Pick(truth)


def kinds(x: Numbers) -> Pairs:
    said = {
        "exact copy of the encoder state with the largest score": "hard attention",
        "one position is drawn at random": "hard attention",
        "All four states are mixed": "soft attention",
        "softmax of finite scores": "soft attention",
        "sigmoid of each score": "neither",
    }

    def kind(text: str) -> str:
        if "[" not in text:
            return said[found(said, text)]
        entries = numbers_in(text)
        if sum(entries) != 1 or min(entries) < 0:
            return "neither"
        return "hard attention" if sorted(entries) == [0, 0, 0, 1] else "soft attention"

    return Pairs(kind)


def what_follows(x: Numbers) -> Pick:
    """S2, step 3, on a weight above one half."""
    rest = f"{float(1 - x['w']):.2f}"
    truth = {
        "no other state is weighted as heavily": True,
        f"The other {x['n'] - 1} weights of this step sum to {rest}.": True,
        "is the largest one among the scores of this step": True,
        f"No other position has a weight above {rest} in": True,
        "is the longest of all the encoder's state vectors": False,
        "writes source word": False,
        "before the softmax, is positive": False,
        "in the next decoder step, too": False,
        "is exactly equal to": False,
        "translated correctly with a probability": False,
        "The norm of": False,
        f"before the softmax, is {float(x['w'])}.": False,
    }
    return Pick(truth)


def _shown(vector: list[float]) -> str:
    return "[" + ", ".join(f"{round(float(v), 2) + 0.0:.2f}" for v in vector) + "]"


def limits_of_outputs(x: Numbers) -> Pairs:
    V, u = x["V"], x["u"]
    a, b = int(x["a"]), int(x["b"])
    g = 6 - a - b

    def output(e: dict[int, float]) -> str:
        """Of the positions that can be seen, with their scores."""
        return _shown(context(softmax(list(e.values())), [V[j - 1] for j in e]))

    cases = {
        "All three keys are equal.": output({1: 7.0, 2: 7.0, 3: 7.0}),
        "The query is the zero vector.": output({1: 0.0, 2: 0.0, 3: 0.0}),
        "The score of each position is 1000.": output({1: 1e3, 2: 1e3, 3: 1e3}),
        f"The score of position {b} is larger than the other two by 1000.": output({g: 0.0, b: 1e3, a: 0.0}),
        f"A mask hides all positions but number {a}.": output({a: -3.0}),
        f"A mask hides position {g}, and the other two have equal scores.": output({a: 2.0, b: 2.0}),
        f"The scores of positions {a} and {b} are 0, that of position {g} is -1000.": output(
            {a: 0.0, b: 0.0, g: -1e3}
        ),
        "All three values are": _shown(u),
        "there is only one key": _shown(u),
        f"A mask hides all but position {a}, whose score": output({a: -1e3}),
    }
    return Pairs(cases)


def shifted(x: Numbers) -> Pick:
    """Each statement about the weights before and after."""
    c, op = x["c"], x["op"]
    old = softmax(x["e"])
    new = softmax([e + c if op == "add" else e * c if op == "stretch" else e / c for e in x["e"]])
    stay = close(old, new)
    spread = (max(new) / min(new)) / (max(old) / min(old))
    grows = max(new) > max(old) + 1e-9 and min(new) < min(old) - 1e-9
    shrinks = max(new) < max(old) - 1e-9 and min(new) > min(old) + 1e-9
    truth = {
        "They stay as they are.": stay,
        "None of them changes.": stay,
        "They stay equal to what they were": stay,
        "They stay as they are, because softmax normalises.": stay,
        "The largest weight grows, and the smallest one shrinks.": grows,
        "The largest weight grows, since": grows,
        "weight moves towards one position": grows and spread > 1.01,
        "the weight gathers at the largest score": grows,
        "The largest weight shrinks, and the smallest one grows.": shrinks,
        "come nearer to equal ones": shrinks and spread < 0.99,
        "the weight spreads more evenly": shrinks,
        "relatively more alike": spread < 0.99,
        "All three grow": min(n - o for n, o in zip(new, old, strict=True)) > 0,
        "no longer sum to 1": abs(sum(new) - 1) > 1e-9,
        "smallest score gets the largest weight": new.index(max(new)) == x["e"].index(min(x["e"])),
        "negative score get the weight 0": any(n == 0 for n in new),
    }
    return Pick(truth)


def _ratios(powers: list[float]) -> list[float]:
    return [p / sum(powers) if sum(powers) < math.inf else math.nan for p in powers]


def _exp(power: float, top: float = 709.0, infinity: float = math.inf) -> float:
    return math.exp(power) if power <= top else infinity


def survives(x: Numbers) -> Pick:
    """Each change carried out, with an exp that overflows, and compared with the right weights."""
    e = [float(x["base"] + gap) for gap in x["gaps"]]
    best = max(e)
    plain = [_exp(s) for s in e]
    right = softmax(x["gaps"])
    valid = [0.0 if math.isnan(w) else w for w in _ratios(plain)]
    truth = {
        "Subtract the largest score": _ratios([_exp(s - best) for s in e]),
        f"Subtract {x['base']} from all scores": _ratios([_exp(s - float(x["base"])) for s in e]),
        "distances from the largest, as negative numbers": _ratios([_exp(-(best - s)) for s in e]),
        "above 700 by 700": _ratios([_exp(min(s, 700.0)) for s in e]),
        "Divide all scores by the largest": _ratios([_exp(s / best) for s in e]),
        "32-bit numbers instead of 64": _ratios([_exp(s, top=88.0) for s in e]),
        "small constant to the denominator": [p / (sum(plain) + 1e-9) for p in plain],
        "by the number of scores before they are added": [p / sum(q / 3 for q in plain) for p in plain],
        "Take the logarithm of each score": _ratios([math.log(s) for s in e]),
        "largest number that can be represented": _ratios([_exp(s, infinity=1e307) for s in e]),
        "Set weights that come out as invalid": valid,
    }
    return Pick({piece: close(weights, right, 1e-3) for piece, weights in truth.items()})


def limit(x: Numbers) -> Pick:
    """The weights at a temperature near the limit, beside what each option says."""
    e = x["e"]
    near = Fraction(1, 50) if x["limit"] == "zero" else Fraction(10000)
    weights = softmax([s / near for s in e])
    best, worst = e.index(max(e)) + 1, e.index(min(e)) + 1
    alone = {j: [float(i + 1 == j) for i in range(3)] for j in (best, worst)}
    equal = [1 / 3] * 3
    said: dict[str, list[float]] = {
        f"weight 1 for position {best}, and 0 for the others": alone[best],
        f"weight 1 for position {worst}, and 0 for the others": alone[worst],
        "all weight on the largest score": alone[best],
        f"position {best} alone, without": alone[best],
        "weight 1/3 for each position": equal,
        "equal weights, whatever the scores are": equal,
        "the weights with which a plain average": equal,
        "weights in proportion to the three scores": [float(s / sum(e)) if sum(e) else math.nan for s in e],
        "the same weights as those for T = 1": softmax(e),
        "weight 0 for each position": [0.0] * 3,
    }
    return Pick({piece: close(weights, values, 0.01) for piece, values in said.items()})
