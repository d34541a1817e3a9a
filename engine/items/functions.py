"""The functions that expressions may call: the vocabulary of the little language.

What they compute lies in :mod:`engine.variants.functions`; that both agree in names and arguments
is tested. Here they stand so that a misspelt name is found when a file is read, and for the
reference page.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

__all__ = ["GROUPS", "TEXT_FILTERS", "TEXT_FUNCTIONS", "Described", "Vocabulary", "builtin_vocabulary"]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The functions that expressions may call, the further ones of texts, and the filters of texts."""

    functions: frozenset[str]
    text_functions: frozenset[str] = frozenset()
    text_filters: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Described:
    """A function: its name, its arguments as they are written, and what it gives."""

    name: str
    arguments: str
    gives: str


GROUPS: dict[str, tuple[Described, ...]] = {
    "Arithmetic": (
        Described("matmul", "left, right", "The product of two matrices."),
        Described("matvec", "W, x", "The product of a matrix and a vector."),
        Described("dot", "x, y", "The inner product of two vectors."),
        Described("outer", "x, y", "The matrix x y^T."),
        Described("tanh", "x", "The hyperbolic tangent of every entry."),
        Described("sigmoid", "x", "The logistic sigmoid of every entry."),
        Described("relu", "x", "Every entry, negative ones as 0."),
        Described("exp", "x", "The exponential of every entry."),
        Described("log", "x", "The natural logarithm of every entry."),
        Described("log2", "x", "The logarithm to base 2 of every entry."),
        Described("log10", "x", "The logarithm to base 10 of every entry."),
        Described("sqrt", "x", "The square root of every entry."),
        Described("abs", "x", "The absolute value of every entry."),
        Described(
            "round", "x, decimals=0", "Every entry rounded to `decimals` places, halves to the even digit."
        ),
        Described("floor", "x", "The greatest whole number at or below; an `int` for a number."),
        Described("ceil", "x", "The least whole number at or above; an `int` for a number."),
        Described("sum", "x, axis=None", "The sum of all entries, or along an axis."),
        Described(
            "mean",
            "x, axis=0",
            "The mean along the first axis: of a vector's entries, or of a matrix's rows.",
        ),
        Described("prod", "x", "The product of all entries."),
        Described("max", "*values", "The largest entry of one tensor, or the largest of several numbers."),
        Described("min", "*values", "The smallest entry of one tensor, or the smallest of several numbers."),
        Described("argmax", "x", "The position of the largest entry, from 0; the first of equals."),
        Described("argmin", "x", "The position of the smallest entry, from 0; the first of equals."),
        Described("norm", "x", "The Euclidean length of all entries together."),
        Described("row_norms", "H", "The Euclidean length of every row."),
        Described("cumsum", "x", "The running sums along the first axis."),
    ),
    "Scores, weights, attention": (
        Described("softmax", "x, axis=-1, temperature=1.0", "Softmax along an axis, S0 (2=5)."),
        Described(
            "masked_softmax",
            "scores, mask",
            "Softmax over the visible positions; a mask entry other than 0 is visible.",
        ),
        Described(
            "dot_scores", "q, K", "The inner products of one query (or each row of queries) with the keys."
        ),
        Described(
            "scaled_dot_scores",
            "q, K",
            "Inner products over the square root of the key size (Vaswani et al. 2017, eq. (1)).",
        ),
        Described("bilinear_scores", "q, K, W", "Q^T W k for every key."),
        Described(
            "additive_scores",
            "q, K, W, U, v",
            "V^T tanh(W q + U k) for every key; W belongs to the query, U to the keys.",
        ),
        Described("concat_scores", "q, K, W1, w2", "W2^T tanh(W1 [q; k]) for every key, S1 variant 1."),
        Described(
            "alignment_vector",
            "h, s, W_h, W_s",
            "Tanh(W_h h + W_s s): S0 (3=4) as printed, a vector and no score.",
        ),
        Described(
            "context",
            "weights, H",
            "The weighted sum of the rows of H, S0 (1=6); one row for each row of weights.",
        ),
        Described(
            "sdpa",
            "Q, K, V, mask=None",
            "Scaled dot-product attention (Vaswani et al. 2017, eq. (1)) of one query or rows of queries.",
        ),
        Described(
            "causal_mask",
            "n",
            "The n x n mask in which a position sees itself and the earlier ones, as 1 and 0.",
        ),
        Described(
            "hard_alignment",
            "A, axis=-1",
            "1 at the largest weight of every row (axis -1) or column (axis 0), 0 elsewhere.",
        ),
        Described(
            "aligned_positions",
            "A, axis=-1",
            "The position of the largest weight of every row (axis -1) or column (axis 0), from 0.",
        ),
        Described(
            "threshold_alignment", "A, threshold", "1 where a weight reaches the threshold, 0 elsewhere."
        ),
        Described("softmax_jacobian", "w", "Diag(w) - w w^T, the derivative of softmax at weights w."),
        Described(
            "softmax_vjp",
            "w, g",
            "The gradient for the scores, from weights w and the gradient g for the weights.",
        ),
        Described(
            "grad_q", "Q, K, V, G", "Gradient for the queries, from the gradient G for the output of sdpa."
        ),
        Described(
            "grad_k", "Q, K, V, G", "Gradient for the keys, from the gradient G for the output of sdpa."
        ),
        Described(
            "grad_v", "Q, K, V, G", "Gradient for the values, from the gradient G for the output of sdpa."
        ),
    ),
    "Networks": (
        Described(
            "rnn_step",
            "x, h, W, U, activation='logistic'",
            'Sigma(W h + U x), S3 (5 first); the activation is "logistic" or "tanh".',
        ),
        Described(
            "decoder_scores",
            "y, s, H, W, U, v, Wx, Ws, Wy",
            "Alignment scores of the decoder step S0 (4)-(8), with v.",
        ),
        Described("decoder_weights", "y, s, H, W, U, v, Wx, Ws, Wy", "Attention weights of that step."),
        Described("decoder_context", "y, s, H, W, U, v, Wx, Ws, Wy", "Context vector of that step."),
        Described("decoder_state", "y, s, H, W, U, v, Wx, Ws, Wy", "New decoder state of that step."),
        Described(
            "decoder_probabilities", "y, s, H, W, U, v, Wx, Ws, Wy", "Output probabilities of that step."
        ),
        Described(
            "self_attention",
            "X, Wq, Wk, Wv, causal=False",
            "Self-attention of the rows of X, projected from the right; `causal` hides later rows.",
        ),
        Described(
            "multi_head",
            "X, Wq, Wk, Wv, Wo, h",
            "Multi-head attention; heads are consecutive blocks of columns.",
        ),
    ),
    "Decoding": (
        Described(
            "words",
            "sequence, vocabulary='A B C D E F G H'",
            "A sequence (or one token) as words joined by blanks.",
        ),
        Described("greedy_decode", "tree", "The sequence of greedy search."),
        Described(
            "beam_search",
            "tree, b, rank=0",
            "The sequence that beam search with width b ranks first (or `rank`-th, from 0).",
        ),
        Described(
            "beam_survivors",
            "tree, b, step",
            'The prefixes that survive step `step` (from 1), best first, as words "AB, AC".',
        ),
        Described(
            "best_sequence",
            "tree, rank=0",
            "The most probable sequence of full length, by trying all (or the `rank`-th, from 0).",
        ),
        Described(
            "sequence_prob", "tree, sequence", "The probability of a sequence by the chain rule, S3 (3)."
        ),
        Described("chain_prob", "p", "The product of conditional probabilities, S3 (3)."),
        Described(
            "step_probs",
            "tree, sequence",
            "The probability of each token of a sequence after the tokens before it.",
        ),
        Described("second_choice", "tree", "The sequence that takes the second best token in each step."),
        Described(
            "step_max", "tree", "The token of the largest entry of each step, over all prefixes (m-step-max)."
        ),
        Described(
            "step_max_prob",
            "tree",
            "The product of the largest entries of the steps, over all prefixes (m-step-max).",
        ),
        Described(
            "beam_best_only",
            "tree, b",
            "What remains when only the best of the b hypotheses is expanded (m-beam-best).",
        ),
        Described(
            "beam_per_parent", "tree, b", "The first when b hypotheses are kept for each parent (m-beam-per)."
        ),
        Described("beam_by_sum", "tree, b", "The first when probabilities are added (m-beam-sum)."),
        Described(
            "beam_by_last", "tree, b", "The first when only the last step's probability ranks (m-beam-last)."
        ),
        Described(
            "mistaken_survivors",
            "tree, b, step, mistake",
            "What survives step `step` by a mistake (m-beam-best, -per, -sum, -last), as `beam_survivors`. "
            "m-survivors-order gives the right survivors, the least probable first.",
        ),
    ),
    "Counting": (
        Described(
            "count_params",
            "kind, **dims",
            "Number of learned parameters of a kind of layer; the sizes are given by name.",
        ),
        Described(
            "count_ops",
            "kind, **dims",
            "Number of operations of a kind of computation; the sizes are given by name.",
        ),
        Described(
            "sequential_depth",
            "kind, **dims",
            "Number of steps that must follow one another; the sizes are given by name.",
        ),
    ),
    "Taking apart and putting together": (
        Described("transpose", "x", "The transpose of a matrix."),
        Described("reverse", "x", "Entries (or rows) in reversed order."),
        Described("sort", "x, descending=False", "The entries of a vector in order."),
        Described(
            "argsort",
            "x, descending=False",
            "The positions that put a vector in order, from 0; equals keep their order.",
        ),
        Described("row", "H, i", "Row i, from 0; -1 is the last."),
        Described(
            "column",
            "x, j=None",
            "Column j of a matrix, from 0; of a vector alone, the matrix with this one column.",
        ),
        Described("entry", "x, *position", "One entry, positions from 0."),
        Described(
            "take", "x, positions", "The entries (or rows) at the given positions, from 0, in that order."
        ),
        Described("with_row", "H, i, x", "The matrix with row i, from 0, replaced by a vector."),
        Described("first", "x", "The first entry or row."),
        Described("last", "x", "The last entry or row."),
        Described("rows", "H, start, stop", "The rows from `start` to before `stop`, from 0."),
        Described("columns", "H, start, stop", "The columns from `start` to before `stop`, from 0."),
        Described(
            "size", "x", "The number of entries of a vector, rows of a matrix, or tokens of a sequence."
        ),
        Described("width", "H", "The number of columns of a matrix."),
        Described("concat", "*vectors", "Vectors one after the other; sequences of tokens likewise."),
        Described("beside", "*matrices", "Matrices side by side: [A B]."),
        Described("stack", "*values", "Numbers as a vector, or vectors as the rows of a matrix."),
        Described("diagonal", "x", "The diagonal matrix of a vector, or the diagonal of a matrix."),
        Described("identity", "n", "The identity matrix."),
        Described("zeros", "n, m=None", "N zeros, or n rows of m."),
        Described("ones", "n, m=None", "N ones, or n rows of m."),
        Described("one_hot", "i, n", "N numbers, 1 at position i (from 0) and 0 elsewhere."),
        Described("number", "x", "Truth values as 1 and 0."),
    ),
    "Tests for constraints and invariants": (
        Described("all", "x", "Whether every entry is true (not 0)."),
        Described("any", "x", "Whether some entry is true (not 0)."),
        Described(
            "same",
            "x, y, tolerance=1e-09",
            "Whether shapes agree and all entries do within `tolerance`; words and sequences exactly.",
        ),
        Described(
            "distinct",
            "x, gap=1e-09",
            "Whether any two entries (or rows, in some entry) differ by more than `gap`.",
        ),
        Described("symmetric", "W", "Whether a matrix equals its transpose."),
        Described("between", "x, low, high", "Whether all entries lie between two bounds, both included."),
        Described("whole", "x", "Whether all entries are whole numbers."),
        Described(
            "where", "condition, yes, no", "Entries of `yes` where the condition holds, of `no` elsewhere."
        ),
    ),
    "What known mistakes give": (
        Described("base2", "e", "The weights that powers of 2 give (m-base2)."),
        Described("linear_norm", "e", "The scores divided by their sum (m-linear-norm)."),
        Described("rank_norm", "e", "Weights that grow in equal steps with the scores (m-rank-norm)."),
        Described("sigmoid_norm", "e", "Sigmoids of the scores, divided by their sum (m-sigmoid-norm)."),
        Described("hard", "e", "1 at the largest score of every row and 0 elsewhere (m-argmax)."),
        Described("softmax_all", "E", "Exponentials over the sum of all entries of a matrix (m-all)."),
    ),
}
"""The functions of expressions, by subject."""

TEXT_FUNCTIONS: tuple[Described, ...] = (
    Described(
        "tex", "value, places=None", "A number, vector or matrix as a formula, for use between dollars."
    ),
    Described("vec", "value, places=None", "A vector as a formula."),
    Described("col", "value, places=None", "A vector as a column."),
    Described("mat", "value, places=None", "A matrix as a formula."),
    Described("num", "value, places=None", "A number."),
    Described("dec", "value, places=None", "The same as `num`."),
    Described("par", "value, places=None", "A number, in parentheses if it is negative."),
    Described(
        "table",
        "value, columns, rows, corner, places",
        "A matrix as a table; headings are words with blanks between.",
    ),
    Described(
        "heatmap",
        "A, rows, columns, places=2",
        "A picture of a matrix: the larger a number, the stronger the shade of its cell and the longer "
        "its bar.",
    ),
    Described(
        "alignment_grid",
        "A, rows, columns, places=2",
        "A picture of weights from 0 to 1 of target words (rows) over source words (columns), with a mark "
        "where a weight is the largest of its row or at least half as large.",
    ),
    Described(
        "beam_tree",
        "T, b, vocabulary, places=4",
        "A picture of a beam search of width b on a `probability_tree`: every hypothesis, kept or pruned, "
        "with the probability of its last word and of all its words.",
    ),
)
"""What texts may call besides the functions of expressions, also as filters: `{{ w | tex }}`."""

TEXT_FILTERS = ("join", "length", "first", "last")
"""Filters of Jinja that texts may use."""


@lru_cache(maxsize=1)
def builtin_vocabulary() -> Vocabulary:
    """Return all function names that a problem file may use."""
    expressions = frozenset(one.name for group in GROUPS.values() for one in group)
    texts = frozenset(one.name for one in TEXT_FUNCTIONS)
    return Vocabulary(expressions, texts, texts | frozenset(TEXT_FILTERS))
