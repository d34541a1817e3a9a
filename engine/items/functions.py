"""The functions that expressions may call: the vocabulary of the little language.

What they compute lies in :mod:`engine.expressions.functions`; that both agree in names and arguments
is tested. Here they stand so that a misspelt name is found when a file is read, and for the
reference page.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

__all__ = [
    "GROUPS",
    "TEXT_FILTERS",
    "TEXT_FUNCTIONS",
    "FunctionDescription",
    "LanguageVocabulary",
    "builtin_vocabulary",
]


@dataclass(frozen=True, slots=True)
class LanguageVocabulary:
    """The functions that expressions may call, the further ones of texts, and the filters of texts."""

    functions: frozenset[str]
    text_functions: frozenset[str] = frozenset()
    text_filters: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FunctionDescription:
    """A function: its name, its arguments as they are written, and what it gives."""

    name: str
    arguments: str
    gives: str


GROUPS: dict[str, tuple[FunctionDescription, ...]] = {
    "Arithmetic": (
        FunctionDescription("matmul", "left, right", "The product of two matrices."),
        FunctionDescription("matvec", "W, x", "The product of a matrix and a vector."),
        FunctionDescription("dot", "x, y", "The inner product of two vectors."),
        FunctionDescription("outer", "x, y", "The matrix x y^T."),
        FunctionDescription("tanh", "x", "The hyperbolic tangent of every entry."),
        FunctionDescription("sigmoid", "x", "The logistic sigmoid of every entry."),
        FunctionDescription("relu", "x", "Every entry, negative ones as 0."),
        FunctionDescription("exp", "x", "The exponential of every entry."),
        FunctionDescription("log", "x", "The natural logarithm of every entry."),
        FunctionDescription("log2", "x", "The logarithm to base 2 of every entry."),
        FunctionDescription("log10", "x", "The logarithm to base 10 of every entry."),
        FunctionDescription("sqrt", "x", "The square root of every entry."),
        FunctionDescription("abs", "x", "The absolute value of every entry."),
        FunctionDescription(
            "round", "x, decimals=0", "Every entry rounded to `decimals` places, halves to the even digit."
        ),
        FunctionDescription("floor", "x", "The greatest whole number at or below; an `int` for a number."),
        FunctionDescription("ceil", "x", "The least whole number at or above; an `int` for a number."),
        FunctionDescription("sum", "x, axis=None", "The sum of all entries, or along an axis."),
        FunctionDescription(
            "mean",
            "x, axis=0",
            "The mean along the first axis: of a vector's entries, or of a matrix's rows.",
        ),
        FunctionDescription("prod", "x", "The product of all entries."),
        FunctionDescription(
            "max", "*values", "The largest entry of one tensor, or the largest of several numbers."
        ),
        FunctionDescription(
            "min", "*values", "The smallest entry of one tensor, or the smallest of several numbers."
        ),
        FunctionDescription("argmax", "x", "The position of the largest entry, from 0; the first of equals."),
        FunctionDescription(
            "argmin", "x", "The position of the smallest entry, from 0; the first of equals."
        ),
        FunctionDescription("norm", "x", "The Euclidean length of all entries together."),
        FunctionDescription("row_norms", "H", "The Euclidean length of every row."),
        FunctionDescription("cumsum", "x", "The running sums along the first axis."),
    ),
    "Scores, weights, attention": (
        FunctionDescription("softmax", "x, axis=-1, temperature=1.0", "Softmax along an axis, S0 (2=5)."),
        FunctionDescription(
            "masked_softmax",
            "scores, mask",
            "Softmax over the visible positions; a mask entry other than 0 is visible.",
        ),
        FunctionDescription(
            "dot_scores", "q, K", "The inner products of one query (or each row of queries) with the keys."
        ),
        FunctionDescription(
            "scaled_dot_scores",
            "q, K",
            "Inner products over the square root of the key size (Vaswani et al. 2017, eq. (1)).",
        ),
        FunctionDescription("bilinear_scores", "q, K, W", "Q^T W k for every key."),
        FunctionDescription(
            "additive_scores",
            "q, K, W, U, v",
            "V^T tanh(W q + U k) for every key; W belongs to the query, U to the keys.",
        ),
        FunctionDescription(
            "concat_scores", "q, K, W1, w2", "W2^T tanh(W1 [q; k]) for every key, S1 variant 1."
        ),
        FunctionDescription(
            "alignment_vector",
            "h, s, W_h, W_s",
            "Tanh(W_h h + W_s s): S0 (3=4) as printed, a vector and no score.",
        ),
        FunctionDescription(
            "context",
            "weights, H",
            "The weighted sum of the rows of H, S0 (1=6); one row for each row of weights.",
        ),
        FunctionDescription(
            "sdpa",
            "Q, K, V, mask=None",
            "Scaled dot-product attention (Vaswani et al. 2017, eq. (1)) of one query or rows of queries.",
        ),
        FunctionDescription(
            "causal_mask",
            "n",
            "The n x n mask in which a position sees itself and the earlier ones, as 1 and 0.",
        ),
        FunctionDescription(
            "hard_alignment",
            "A, axis=-1",
            "1 at the largest weight of every row (axis -1) or column (axis 0), 0 elsewhere.",
        ),
        FunctionDescription(
            "aligned_positions",
            "A, axis=-1",
            "The position of the largest weight of every row (axis -1) or column (axis 0), from 0.",
        ),
        FunctionDescription(
            "threshold_alignment", "A, threshold", "1 where a weight reaches the threshold, 0 elsewhere."
        ),
        FunctionDescription(
            "softmax_jacobian", "w", "Diag(w) - w w^T, the derivative of softmax at weights w."
        ),
        FunctionDescription(
            "softmax_vjp",
            "w, g",
            "The gradient for the scores, from weights w and the gradient g for the weights.",
        ),
        FunctionDescription(
            "grad_q", "Q, K, V, G", "Gradient for the queries, from the gradient G for the output of sdpa."
        ),
        FunctionDescription(
            "grad_k", "Q, K, V, G", "Gradient for the keys, from the gradient G for the output of sdpa."
        ),
        FunctionDescription(
            "grad_v", "Q, K, V, G", "Gradient for the values, from the gradient G for the output of sdpa."
        ),
    ),
    "Networks": (
        FunctionDescription(
            "rnn_step",
            "x, h, W, U, activation='logistic'",
            'Sigma(W h + U x), S3 (5 first); the activation is "logistic" or "tanh".',
        ),
        FunctionDescription(
            "decoder_scores",
            "y, s, H, W, U, v, Wx, Ws, Wy",
            "Alignment scores of the decoder step S0 (4)-(8), with v.",
        ),
        FunctionDescription(
            "decoder_weights", "y, s, H, W, U, v, Wx, Ws, Wy", "Attention weights of that step."
        ),
        FunctionDescription(
            "decoder_context", "y, s, H, W, U, v, Wx, Ws, Wy", "Context vector of that step."
        ),
        FunctionDescription(
            "decoder_state", "y, s, H, W, U, v, Wx, Ws, Wy", "New decoder state of that step."
        ),
        FunctionDescription(
            "decoder_probabilities", "y, s, H, W, U, v, Wx, Ws, Wy", "Output probabilities of that step."
        ),
        FunctionDescription(
            "self_attention",
            "X, Wq, Wk, Wv, causal=False",
            "Self-attention of the rows of X, projected from the right; `causal` hides later rows.",
        ),
        FunctionDescription(
            "multi_head",
            "X, Wq, Wk, Wv, Wo, h",
            "Multi-head attention; heads are consecutive blocks of columns.",
        ),
    ),
    "Decoding": (
        FunctionDescription(
            "words",
            "sequence, vocabulary='A B C D E F G H'",
            "A sequence (or one token) as words joined by blanks.",
        ),
        FunctionDescription("greedy_decode", "tree", "The sequence of greedy search."),
        FunctionDescription(
            "beam_search",
            "tree, b, rank=0",
            "The sequence that beam search with width b ranks first (or `rank`-th, from 0).",
        ),
        FunctionDescription(
            "beam_survivors",
            "tree, b, step",
            'The prefixes that survive step `step` (from 1), best first, as words "AB, AC".',
        ),
        FunctionDescription(
            "best_sequence",
            "tree, rank=0",
            "The most probable sequence of full length, by trying all (or the `rank`-th, from 0).",
        ),
        FunctionDescription(
            "sequence_prob", "tree, sequence", "The probability of a sequence by the chain rule, S3 (3)."
        ),
        FunctionDescription("chain_prob", "p", "The product of conditional probabilities, S3 (3)."),
        FunctionDescription(
            "step_probs",
            "tree, sequence",
            "The probability of each token of a sequence after the tokens before it.",
        ),
        FunctionDescription(
            "second_choice", "tree", "The sequence that takes the second best token in each step."
        ),
        FunctionDescription(
            "step_max", "tree", "The token of the largest entry of each step, over all prefixes (m-step-max)."
        ),
        FunctionDescription(
            "step_max_prob",
            "tree",
            "The product of the largest entries of the steps, over all prefixes (m-step-max).",
        ),
        FunctionDescription(
            "beam_best_only",
            "tree, b",
            "What remains when only the best of the b hypotheses is expanded (m-beam-best).",
        ),
        FunctionDescription(
            "beam_per_parent", "tree, b", "The first when b hypotheses are kept for each parent (m-beam-per)."
        ),
        FunctionDescription("beam_by_sum", "tree, b", "The first when probabilities are added (m-beam-sum)."),
        FunctionDescription(
            "beam_by_last", "tree, b", "The first when only the last step's probability ranks (m-beam-last)."
        ),
        FunctionDescription(
            "mistaken_survivors",
            "tree, b, step, mistake",
            "What survives step `step` by a mistake (m-beam-best, -per, -sum, -last), as `beam_survivors`. "
            "m-survivors-order gives the right survivors, the least probable first.",
        ),
    ),
    "Counting": (
        FunctionDescription(
            "count_params",
            "kind, **dims",
            "Number of learned parameters of a kind of layer; the sizes are given by name.",
        ),
        FunctionDescription(
            "count_ops",
            "kind, **dims",
            "Number of operations of a kind of computation; the sizes are given by name.",
        ),
        FunctionDescription(
            "sequential_depth",
            "kind, **dims",
            "Number of steps that must follow one another; the sizes are given by name.",
        ),
    ),
    "Taking apart and putting together": (
        FunctionDescription("transpose", "x", "The transpose of a matrix."),
        FunctionDescription("reverse", "x", "Entries (or rows) in reversed order."),
        FunctionDescription("sort", "x, descending=False", "The entries of a vector in order."),
        FunctionDescription(
            "argsort",
            "x, descending=False",
            "The positions that put a vector in order, from 0; equals keep their order.",
        ),
        FunctionDescription("row", "H, i", "Row i, from 0; -1 is the last."),
        FunctionDescription(
            "column",
            "x, j=None",
            "Column j of a matrix, from 0; of a vector alone, the matrix with this one column.",
        ),
        FunctionDescription("entry", "x, *position", "One entry, positions from 0."),
        FunctionDescription(
            "take", "x, positions", "The entries (or rows) at the given positions, from 0, in that order."
        ),
        FunctionDescription("with_row", "H, i, x", "The matrix with row i, from 0, replaced by a vector."),
        FunctionDescription("first", "x", "The first entry or row."),
        FunctionDescription("last", "x", "The last entry or row."),
        FunctionDescription("rows", "H, start, stop", "The rows from `start` to before `stop`, from 0."),
        FunctionDescription(
            "columns", "H, start, stop", "The columns from `start` to before `stop`, from 0."
        ),
        FunctionDescription(
            "size", "x", "The number of entries of a vector, rows of a matrix, or tokens of a sequence."
        ),
        FunctionDescription("width", "H", "The number of columns of a matrix."),
        FunctionDescription(
            "concat", "*vectors", "Vectors one after the other; sequences of tokens likewise."
        ),
        FunctionDescription("beside", "*matrices", "Matrices side by side: [A B]."),
        FunctionDescription("stack", "*values", "Numbers as a vector, or vectors as the rows of a matrix."),
        FunctionDescription("diagonal", "x", "The diagonal matrix of a vector, or the diagonal of a matrix."),
        FunctionDescription("identity", "n", "The identity matrix."),
        FunctionDescription("zeros", "n, m=None", "N zeros, or n rows of m."),
        FunctionDescription("ones", "n, m=None", "N ones, or n rows of m."),
        FunctionDescription("one_hot", "i, n", "N numbers, 1 at position i (from 0) and 0 elsewhere."),
        FunctionDescription("number", "x", "Truth values as 1 and 0."),
    ),
    "Tests for constraints and invariants": (
        FunctionDescription("all", "x", "Whether every entry is true (not 0)."),
        FunctionDescription("any", "x", "Whether some entry is true (not 0)."),
        FunctionDescription(
            "same",
            "x, y, tolerance=1e-09",
            "Whether shapes agree and all entries do within `tolerance`; words and sequences exactly.",
        ),
        FunctionDescription(
            "distinct",
            "x, gap=1e-09",
            "Whether any two entries (or rows, in some entry) differ by more than `gap`.",
        ),
        FunctionDescription("symmetric", "W", "Whether a matrix equals its transpose."),
        FunctionDescription(
            "between", "x, low, high", "Whether all entries lie between two bounds, both included."
        ),
        FunctionDescription("whole", "x", "Whether all entries are whole numbers."),
        FunctionDescription(
            "where", "condition, yes, no", "Entries of `yes` where the condition holds, of `no` elsewhere."
        ),
    ),
    "What known mistakes give": (
        FunctionDescription("base2", "e", "The weights that powers of 2 give (m-base2)."),
        FunctionDescription("linear_norm", "e", "The scores divided by their sum (m-linear-norm)."),
        FunctionDescription(
            "rank_norm", "e", "Weights that grow in equal steps with the scores (m-rank-norm)."
        ),
        FunctionDescription(
            "sigmoid_norm", "e", "Sigmoids of the scores, divided by their sum (m-sigmoid-norm)."
        ),
        FunctionDescription("hard", "e", "1 at the largest score of every row and 0 elsewhere (m-argmax)."),
        FunctionDescription(
            "softmax_all", "E", "Exponentials over the sum of all entries of a matrix (m-all)."
        ),
    ),
}
"""The functions of expressions, by subject."""

TEXT_FUNCTIONS: tuple[FunctionDescription, ...] = (
    FunctionDescription(
        "tex", "value, places=None", "A number, vector or matrix as a formula, for use between dollars."
    ),
    FunctionDescription("vec", "value, places=None", "A vector as a formula."),
    FunctionDescription("col", "value, places=None", "A vector as a column."),
    FunctionDescription("mat", "value, places=None", "A matrix as a formula."),
    FunctionDescription("num", "value, places=None", "A number."),
    FunctionDescription("dec", "value, places=None", "The same as `num`."),
    FunctionDescription("par", "value, places=None", "A number, in parentheses if it is negative."),
    FunctionDescription(
        "table",
        "value, columns, rows, corner, places",
        "A matrix as a table; headings are words with blanks between.",
    ),
    FunctionDescription(
        "heatmap",
        "A, rows, columns, places=2",
        "A picture of a matrix: the larger a number, the stronger the shade of its cell and the longer "
        "its bar.",
    ),
    FunctionDescription(
        "alignment_grid",
        "A, rows, columns, places=2",
        "A picture of weights from 0 to 1 of target words (rows) over source words (columns), with a mark "
        "where a weight is the largest of its row or at least half as large.",
    ),
    FunctionDescription(
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
def builtin_vocabulary() -> LanguageVocabulary:
    """Return all function names that a problem file may use."""
    expressions = frozenset(one.name for group in GROUPS.values() for one in group)
    texts = frozenset(one.name for one in TEXT_FUNCTIONS)
    return LanguageVocabulary(expressions, texts, texts | frozenset(TEXT_FILTERS))
