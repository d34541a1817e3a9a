"""One oversight costs its own check, and none is missed because all inputs are small and well-behaved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.model import GradeReport, Outcome, Verdict

pytestmark = pytest.mark.slow

BEAM = """
import math
import numpy as np

def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError(b)
    kept = [((), 0.0, s0)]
    for _ in range(max_len):
        found = []
        for words, total, state in kept:
            if words and words[-1] == eos:
                found.append((words, total, state))
                continue
            P, after = step(words[-1] if words else bos, state)
            for word in range(len(P)):
                found.append((words + (word,), total + float({log}(P[word])), after))
        found.sort(key=lambda one: (-one[1], one[0]))
        kept = found[:b]
    return [(list(words), total) for words, total, _ in kept]
"""
SDPA = """
import math
import numpy as np

def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("sizes")
    S = Q @ {keys} / {scale}
    if mask is not None:
        if mask.shape[-2:] != S.shape[-2:]:
            raise ValueError("mask")
        S = np.where(mask, S, S.dtype.type({fill}))
    {cut}
    top = S.max(axis=-1, keepdims=True)
    e = np.exp(S - np.where(np.isfinite(top), top, 0))
    if mask is not None:
        e = e * mask.any(axis=-1, keepdims=True){lost}
    total = e.sum(axis=-1, keepdims=True)
    return (e / np.where(total == 0, 1, total)).astype(Q.dtype) @ V
"""
USUAL = {
    "keys": "np.swapaxes(K, -1, -2)",
    "scale": "math.sqrt(Q.shape[-1])",
    "fill": "-np.inf",
    "cut": "",
    "lost": "",
}
HEADS = """
import numpy as np

def multi_head(X, Wq, Wk, Wv, Wo, h):
    columns = Wq.shape[1]
    if h < 1 or columns % h or not Wq.shape == Wk.shape == Wv.shape or Wo.shape[0] != columns:
        raise ValueError("sizes")
    size = X.shape[1] // h
    parts = []
    for head in range(h):
        own = slice(head * size, head * size + size)
        S = (X @ Wq)[:, own] @ (X @ Wk)[:, own].T / float(size) ** 0.5
        e = np.exp(S - S.max(axis=1, keepdims=True))
        parts.append(e / e.sum(axis=1, keepdims=True) @ (X @ Wv)[:, own])
    return np.concatenate(parts, axis=1) @ Wo
"""
SOFTMAX = """
import numpy as np

SEEN = {{}}

def softmax(x, axis=-1):
    {before}
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    w = e / e.sum(axis=axis, keepdims=True)
    {after}
    return w
"""
KEEP = "key = x.shape, x.dtype, axis, {key}\n    if key in SEEN: return SEEN[key]{copy}"
SINGLE = "if x.shape[axis] == 1 and x.flags.writeable: x[...] = 1.0; return x + 0"
CUT = "S, V = S[..., :{n}], V[..., :{n}, :]\n    mask = None if mask is None else mask[..., :{n}]"
ALONE = "if S.shape[-2:] == (1, 1) and mask is None: return V"
FEW = "np.swapaxes(K, -1, -2)[..., :32, :]"
ROWS = "if x.ndim != 2: raise NotImplementedError('rows only')"


def _sdpa(**changed: str) -> str:
    return SDPA.format(**{**USUAL, **changed})


# what fails alone; what is skipped because of it, or counts only together with it, doesn't fail
OWN_CHECK: dict[str, tuple[str, str, set[str] | None]] = {
    "log of 0 kept": ("beam-search", BEAM.format(log="np.log"), {"possible"}),
    "log of 0 raised": ("beam-search", BEAM.format(log="math.log"), {"possible"}),
    "keys transposed without regard to batches": ("sdpa", _sdpa(keys="K.T"), {"batch"}),
    "no scale": ("sdpa", _sdpa(scale="1"), {"values", "log-weights", "tile-law"}),
    "head size from the width of X": ("multi-head", HEADS, {"width"}),
    "only two axes": (
        "softmax",
        SOFTMAX.format(before=ROWS, after=""),
        {"one-axis", "more-axes", "axis", "sum-axis"},
    ),
    "no axis at all": (
        "softmax",
        SOFTMAX.format(before="axis = -1", after="").replace("softmax(x, axis=-1)", "softmax(x)"),
        {"axis", "sum-axis"},
    ),
    "results kept by shape and first entry": (
        "softmax",
        SOFTMAX.format(
            before=KEEP.format(key="float(x.ravel()[0])", copy=".copy()"), after="SEEN[key] = w.copy()"
        ),
        None,
    ),
    "results kept and handed out again": (
        "softmax",
        SOFTMAX.format(before=KEEP.format(key="x.tobytes()", copy=""), after="SEEN[key] = w"),
        None,
    ),
    "written into where there is one entry": ("softmax", SOFTMAX.format(before=SINGLE, after=""), {"pure"}),
    "a view where there is one key": ("sdpa", _sdpa(cut=ALONE), {"pure"}),
    "keys beyond 16 lost": ("sdpa", _sdpa(cut=CUT.format(n=16)), {"sizes"}),
    "keys beyond 64 lost": ("sdpa", _sdpa(cut=CUT.format(n=64)), {"sizes"}),
    "features beyond 32 lost": (
        "sdpa",
        _sdpa(keys=FEW).replace("S = Q @", "S = Q[..., :32] @"),
        {"sizes"},
    ),
    **{
        f"hidden scores of {fill}": ("sdpa", _sdpa(fill=fill), {"subset"})
        for fill in ("-1e4", "-1e5", "-1e9")
    },
}


def _failed(report: GradeReport) -> set[str]:
    return {check.id for check in report.checks if check.verdict not in (Verdict.PASSED, Verdict.SKIPPED)}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", OWN_CHECK)
def test_an_oversight_costs_its_own_check(name: str, seed: int, grade: Callable[..., GradeReport]) -> None:
    item, source, wanted = OWN_CHECK[name]
    report = grade(item, source, seed)
    failed = _failed(report)
    assert report.outcome is Outcome.PARTIAL and report.score is not None
    assert report.score <= report.max_score - 0.25, "a check that fails has points"
    if wanted is not None:
        assert failed == wanted, [(c.id, c.message) for c in report.checks if c.id in failed]
    else:
        assert failed


WINDOW = """
import numpy as np

def self_attention(X, Wq, Wk, Wv, causal=False):
    if Wq.shape[1] != Wk.shape[1] or not X.shape[1] == Wq.shape[0] == Wk.shape[0] == Wv.shape[0]:
        raise ValueError("sizes")
    S = (X @ Wq) @ (X @ Wk).T / float(Wk.shape[1]) ** 0.5
    if causal:
        place = np.arange(len(X))
        back = place[:, None] - place[None, :]
        S = np.where((back >= 0) & (back < {seen}), S, {fill})
    e = np.exp(S - S.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True) @ (X @ Wv)).astype(X.dtype)
"""


@pytest.mark.parametrize(
    ("seen", "fill", "wanted"),
    [
        (5, "-np.inf", "causal-values"),
        (16, "-np.inf", "causal-values"),
        (64, "-np.inf", "causal-values"),
        (99, "-1e9", "prefix"),
    ],
)
def test_self_attention_beyond_usual_windows_and_scores(
    seen: int, fill: str, wanted: str, grade: Callable[..., GradeReport]
) -> None:
    report = grade("self-attention", WINDOW.format(seen=seen, fill=fill))
    assert _failed(report) == {wanted}, [(c.id, c.message) for c in report.checks if c.message]


@pytest.mark.parametrize(
    ("item", "source"),
    [
        ("softmax-vjp", "def softmax_vjp(w, g):\n    return w * (g - (w * g).sum(-1, keepdims=True))\n"),
        (
            "softmax-vjp",
            "def softmax_vjp(w, g):\n    if w.shape[-1] != g.shape[-1]: raise ValueError('n')\n"
            "    return w * (g - (w * g).sum(-1, keepdims=True))\n",
        ),
        (
            "context",
            "def context(weights, H):\n    return (weights[..., None] * H).sum(-2)\n",
        ),
    ],
)
def test_sizes_that_are_broadcast_are_refused(
    item: str, source: str, grade: Callable[..., GradeReport]
) -> None:
    report = grade(item, source)
    assert _failed(report) == {"refuses"}
    (check,) = [check for check in report.checks if check.id == "refuses"]
    assert check.message.count("of shape") >= 2  # both shapes are named


def test_what_holds_of_wrong_programs_earns_nothing_while_nothing_is_right(
    grade: Callable[..., GradeReport],
) -> None:
    source = "import numpy as np\ndef softmax(x, axis=-1):\n    return np.sin(x) - 7\n"
    report = grade("softmax", source)
    verdicts = {check.id: check for check in report.checks}
    for name in ("dtype", "pure", "layout", "single-precision", "half", "grad"):
        assert verdicts[name].verdict is Verdict.SKIPPED and verdicts[name].points == 0


def test_every_check_says_what_it_tries(grade: Callable[..., GradeReport]) -> None:
    report = grade("masked-softmax", "def masked_softmax(scores, mask):\n    return scores * mask\n")
    titles = [check.title for check in report.checks if check.max_points]
    assert titles and all(5 <= len(title) <= 70 and title[0].islower() for title in titles)


TABLE = """
import numpy as np

_ALL = np.tri(99, dtype=bool)

def causal_mask(n):
    if n < 0:
        raise ValueError(n)
    return _ALL[:n, :n]
"""
BUFFER = """
import numpy as np

_kept = {}

def softmax(x, axis=-1):
    out = _kept.setdefault((x.shape, x.dtype), np.empty_like(x))
    np.exp(x - x.max(axis, keepdims=True), out=out)
    out /= out.sum(axis, keepdims=True)
    return out
"""
WRITES = """
import numpy as np

def softmax(x, axis=-1):
    x -= x.max(axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis, keepdims=True)
"""
CUT_OFF = """
import numpy as np

def softmax(x, axis=-1):
    x = np.clip(x, -3e4, 3e4)
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)
"""
NEARLY = """
import numpy as np

def hard_alignment(A):
    chosen = np.isclose(A, A.max(axis=1, keepdims=True)).argmax(axis=1)
    return np.eye(A.shape[1], dtype=A.dtype)[chosen]
"""
NO_DEFAULT = """
import torch

def sdpa(Q, K, V, mask):
    S = Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5
    if mask is not None:
        S = S.masked_fill(~mask, -torch.inf)
    return torch.nan_to_num(S.softmax(-1)) @ V
"""
STRICT = """
import torch

def self_attention(X, Wq, Wk, Wv, causal=False):
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    S = Q @ K.T / K.shape[1] ** 0.5
    if causal:
        S = S.masked_fill(torch.ones_like(S, dtype=torch.bool).triu(), -torch.inf)
    return torch.nan_to_num(S.softmax(-1)) @ V
"""
CLAMPED = """
import torch

def multi_head(X, Wq, Wk, Wv, Wo, h):
    if h < 1 or Wq.shape[1] % h or not Wq.shape == Wk.shape == Wv.shape:
        raise ValueError(h)
    Q, K, V = (torch.stack((X @ W).chunk(h, dim=1)) for W in (Wq, Wk, Wv))
    S = (Q @ K.mT / Q.shape[-1] ** 0.5).clamp(-1e6, 1e6)
    return torch.cat(tuple(S.softmax(-1) @ V), dim=1) @ Wo
"""
OTHERWISE = """
import numpy as np
{before}

def rnn_forward(X, W, U, h0):
    if W.shape != (len(h0), len(h0)) or U.shape != (len(h0), X.shape[1]):
        raise ValueError("sizes")
    h, rows = h0, []
    for x in X:
        h = (1 + np.tanh((W @ h + U @ x) / 2)) / 2
        rows.append(h)
    return {result}
"""
LEAKS = """
import numpy as np

def greedy_decode(step, s0, bos, eos, max_len, tokens=[]):
    y, s = bos, s0
    for _ in range(max_len):
        P, s = step(y, s)
        y = {taken}
        tokens.append(y)
        if y == eos:
            break
    return tokens
"""
GATHERS = """
import torch

def sdpa_grad(Q, K, V, G):
    if Q.shape[1] != K.shape[1] or len(K) != len(V) or G.shape != (len(Q), V.shape[1]):
        raise ValueError("sizes")
    for each in (Q, K, V):
        each.requires_grad_()
    ((Q @ K.T / Q.shape[1] ** 0.5).softmax(dim=1) @ V).backward(G)
    return Q.grad, K.grad, V.grad
"""
# program, item, and the checks that fail: no others
KEPT_APART = {
    "a view of a table that is kept": (TABLE, "causal-mask", {"pure"}),
    "one buffer for all results": (BUFFER, "softmax", {"pure"}),
    "an argument that is written to": (WRITES, "softmax", {"pure"}),
    "scores that are cut off": (CUT_OFF, "softmax", {"shift"}),
    "scores of heads that are cut off": (CLAMPED, "multi-head", {"stable"}),
    "weights taken for equal": (NEARLY, "hard-alignment", {"at-largest"}),
    "an argument without its default": (NO_DEFAULT, "sdpa", {"layout"}),
    "lists instead of an array": (
        OTHERWISE.format(before="", result="[row.tolist() for row in rows]"), "rnn-forward", {"dtype"}
    ),
    "float32 whatever came": (
        OTHERWISE.format(before="", result="np.array(rows, dtype=np.float32)"), "rnn-forward", {"dtype"}
    ),
    "a numpy array in torch": (
        OTHERWISE.format(before="import torch", result="torch.stack(rows).numpy()").replace("np.", "torch."),
        "rnn-forward",
        {"dtype"},
    ),
    "ids that are floats": (
        LEAKS.format(taken="float(P.argmax())").replace("tokens=[]", "*_").replace("y,", "tokens=[];y,", 1),
        "greedy-decode",
        {"vocabulary"},
    ),
    "arguments that gather gradients": (GATHERS, "sdpa-grad", {"pure"}),
    "tokens that don't see themselves": (
        STRICT, "self-attention", {"causal-values", "first-alone", "last-sees-all"}
    ),
    "ties that the larger list wins": (
        BEAM.format(log="math.log")
        .replace("(-one[1], one[0])", "(one[1], one[0]), reverse=True")
        .replace("found.append((words + (", "float(P[word]) > 0 and found.append((words + ("),
        "beam-search",
        {"ties", "tie-order"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", KEPT_APART)
def test_exactly_these_checks_fail(name: str, seed: int, grade: Callable[..., GradeReport]) -> None:
    source, item, failing = KEPT_APART[name]
    report = grade(item, source, seed)
    assert {check.id for check in report.checks if check.verdict is not Verdict.PASSED} == failing


@pytest.mark.parametrize(
    ("item", "style", "before", "after"),
    [
        ("self-attention", "loops", "Wq.shape[0] != d or ", ""),
        ("multi-head", "one_query", " or Wk.shape != Wv.shape", ""),
        ("rnn-forward", "loops", "if W.shape != (dh, dh)", "if W.shape[0] != W.shape[1]"),
        ("decoder-step", "loops", "if len(s_new) != len(s)", "if False"),
    ],
)
def test_sizes_that_agree_in_pairs_are_not_enough(
    item: str, style: str, before: str, after: str, grade: Callable[..., GradeReport]
) -> None:
    right = (Path(__file__).parent / "right" / item / f"{style}.py").read_text(encoding="utf-8")
    assert before in right
    report = grade(item, right.replace(before, after))
    assert {check.id for check in report.checks if check.verdict is not Verdict.PASSED} == {"refuses"}


@pytest.mark.parametrize("result", ["np.stack(rows).view(Own)", "np.ma.masked_invalid(rows)"])
def test_other_kinds_of_array_are_right(result: str, grade: Callable[..., GradeReport]) -> None:
    source = OTHERWISE.format(before="class Own(np.ndarray): ...", result=result)
    assert grade("rnn-forward", source).outcome is Outcome.RIGHT


@pytest.mark.parametrize("written", ["x, *, axis=-1", "x, **more", "x, eps=0.0, axis=-1", "*x, axis=-1"])
def test_an_optional_argument_by_keyword_only_is_right(
    written: str, grade: Callable[..., GradeReport]
) -> None:
    source = SOFTMAX.format(before="", after="").replace("def softmax(x, axis=-1)", "def weights(x, axis=-1)")
    inner = {"x, **more": "x, **more", "*x, axis=-1": "*x, axis=axis"}.get(written, "x, axis")
    report = grade("softmax", f"{source}\ndef softmax({written}):\n    return weights({inner})\n")
    assert report.outcome is Outcome.RIGHT
    assert report.notes == ("The grader passed axis by keyword, because the function takes it no other way.",)


def test_what_is_kept_from_call_to_call_is_shown_by_calling_twice(grade: Callable[..., GradeReport]) -> None:
    shown = grade("greedy-decode", LEAKS.format(taken="int(P.argmax())")).counterexample
    assert shown is not None and shown.code.count("\ngreedy_decode(step") == 2
    assert shown.expected == "[0]" and shown.got == "[0, 0]"


def test_an_argument_that_is_missing_altogether_is_no_wrong_refusal(
    grade: Callable[..., GradeReport],
) -> None:
    report = grade("sdpa", NO_DEFAULT.replace("V, mask):", "V):\n    mask = None"))
    verdicts = {check.id: check.verdict for check in report.checks}
    assert verdicts["refuses"] is verdicts["values"] is verdicts["pure"] is Verdict.PASSED
    assert verdicts["masked-values"] is Verdict.FAILED
    assert not report.diagnosis


def test_a_mask_is_made_of_a_number_and_shown_as_truth_values(grade: Callable[..., GradeReport]) -> None:
    report = grade("causal-mask", TABLE.replace("[:n, :n]", "[:n, :n] * 1.0"))
    (failed,) = [check for check in report.checks if check.verdict is Verdict.FAILED]
    assert failed.message == "The mask must be boolean. But the result is float64."
    report = grade("causal-mask", TABLE.replace("_ALL[:n, :n]", "_ALL[:n, :n].T.copy()"))
    assert report.counterexample is not None
    assert report.counterexample.expected == "array([[True, False], [True, True]])"


def test_a_list_is_not_called_another_dtype(grade: Callable[..., GradeReport]) -> None:
    """Python's floats have no dtype, so a list says nothing of a conversion."""
    report = grade("rnn-forward", OTHERWISE.format(before="", result="np.stack(rows).tolist()"))
    assert [check.id for check in report.checks if check.verdict is Verdict.FAILED] == ["dtype"]
    assert not report.diagnosis
    assert report.counterexample is not None and report.counterexample.got == "a list"


def test_a_hidden_fault_of_length_is_one_of_tokens(grade: Callable[..., GradeReport]) -> None:
    source = LEAKS.format(taken="int(P.argmax())").replace("tokens=[]", "*_").replace("y,", "tokens=[];y,", 1)
    report = grade("greedy-decode", source.replace("return tokens", "return tokens[:20]"))
    (failed,) = [check for check in report.checks if check.verdict is Verdict.FAILED]
    assert failed.id == "sizes" and "gave back a wrong number of tokens" in failed.message
