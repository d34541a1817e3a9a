"""``transformer_block(X, p)``: attention and a small network, each behind a norm, with its input added."""

import numpy as np

from engine.exercises import Exercise, RelationCall, array, permutation_equivariant, record, relation, scores


def _zeros(call: RelationCall, *names: str) -> dict[str, np.ndarray]:
    return {**call.p, **{name: np.zeros_like(call.p[name]) for name in names}}


def _norm(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=1, keepdims=True)) / np.sqrt(X.var(axis=1, keepdims=True) + 1e-5)


@relation("If Wo, W2 and c2 are zero, the block must give X back: only the residual connections are left.")
def residuals(call: RelationCall) -> bool:
    return call.close(call.again(p=_zeros(call, "Wo", "W2", "c2")), call.X)


@relation("If Wo and W2 are zero, the block must add c2 to every row of X.")
def last_bias(call: RelationCall) -> bool:
    return call.close(call.again(p=_zeros(call, "Wo", "W2")), call.X + call.p["c2"])


@relation("If W2 and c2 are zero, adding one number to a row's entries must add it to the row of the result.")
def first_norm(call: RelationCall) -> bool:
    p = _zeros(call, "W2", "c2")
    return call.close(call.again(X=call.X + 8, p=p), call.again(p=p) + 8)


@relation("If Wo is zero, adding one number to a row's entries must add it to the row of the result.")
def second_norm(call: RelationCall) -> bool:
    p = _zeros(call, "Wo")
    return call.close(call.again(X=call.X + 8, p=p), call.again(p=p) + 8)


@relation("If Wo is zero, no row may change another row of the result.")
def rows_apart(call: RelationCall) -> bool:
    X, p = call.X.copy(), _zeros(call, "Wo")
    X[0] = 1 - X[0]
    return call.close(call.again(X=X, p=p)[1:], call.again(p=p)[1:])


def _half(X: np.ndarray, p: dict[str, np.ndarray]) -> np.ndarray:
    N = _norm(X) * p["gain1"] + p["bias1"]
    scores = (N @ p["Wq"]) @ (N @ p["Wk"]).T / p["Wq"].shape[1] ** 0.5
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(X + e / e.sum(axis=1, keepdims=True) @ (N @ p["Wv"]) @ p["Wo"])


@relation("If W2 and c2 are zero, the block must give X + Attention(LN1(X)), for large scores, too.")
def attention_half(call: RelationCall) -> bool:
    p = _zeros(call, "W2", "c2")
    large = {**p, "Wq": 256 * p["Wq"]}
    return call.close(call.again(p=p), _half(call.X, p)) and call.close(
        call.again(p=large), _half(call.X, large), factor=256
    )


@relation("If Wo is zero, the block must give X + FFN(LN2(X)).")
def network_half(call: RelationCall) -> bool:
    p = _zeros(call, "Wo")
    hidden = (_norm(call.X) * p["gain2"] + p["bias2"]) @ p["W1"] + p["c1"]
    return call.close(call.again(p=p), call.X + np.maximum(hidden, 0) @ p["W2"] + p["c2"])


exercise = Exercise(
    {
        "X": array("n d", scores()),
        "p": record(
            gain1=array("d"),
            bias1=array("d"),
            Wq=array("d dk"),
            Wk=array("d dk"),
            Wv=array("d dv"),
            Wo=array("dv d"),
            gain2=array("d"),
            bias2=array("d"),
            W1=array("d f"),
            c1=array("f"),
            W2=array("f d"),
            c2=array("d"),
        ),
    },
    relations=[
        residuals,
        last_bias,
        first_norm,
        second_norm,
        rows_apart,
        attention_half,
        network_half,
        permutation_equivariant("X", axis=0),
    ],
    size_one=("n",),
)
