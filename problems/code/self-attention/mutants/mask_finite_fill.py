import math

import numpy as np


def _checked(X, Wq, Wk, Wv):
    if Wq.shape != Wk.shape or not X.shape[1] == Wq.shape[0] == Wv.shape[0]:
        raise ValueError("sizes don't fit")


def _weights(X, Wq, Wk, fill, causal):
    Q, K = X @ Wq, X @ Wk
    scores = Q @ K.T / math.sqrt(K.shape[1])
    if causal:
        scores = np.where(np.tri(len(X), dtype=bool), scores, np.asarray(fill, scores.dtype))
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def self_attention(X, Wq, Wk, Wv, causal=False, fill=-1e9):
    _checked(X, Wq, Wk, Wv)
    return _weights(X, Wq, Wk, fill, causal) @ (X @ Wv)


def self_attention_hidden_cleared(X, Wq, Wk, Wv, causal=False, fill=-1e9):
    _checked(X, Wq, Wk, Wv)
    weights = _weights(X, Wq, Wk, fill, causal)
    return (np.tril(weights) if causal else weights) @ (X @ Wv)


def self_attention_added(X, Wq, Wk, Wv, causal=False):
    _checked(X, Wq, Wk, Wv)
    Q, K = X @ Wq, X @ Wk
    scores = Q @ K.T / math.sqrt(K.shape[1])
    if causal:
        scores = scores + np.triu(np.full_like(scores, -1e9), 1)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ (X @ Wv)


def self_attention_exponentials_cleared(X, Wq, Wk, Wv, causal=False, fill=-1e9):
    _checked(X, Wq, Wk, Wv)
    Q, K = X @ Wq, X @ Wk
    scores = Q @ K.T / math.sqrt(K.shape[1])
    if causal:
        scores = np.where(np.tri(len(X), dtype=bool), scores, np.asarray(fill, scores.dtype))
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    e = np.tril(e) if causal else e
    return e / e.sum(axis=-1, keepdims=True) @ (X @ Wv)


def self_attention_thousands(X, Wq, Wk, Wv, causal=False):
    return self_attention(X, Wq, Wk, Wv, causal, -1e4)


def self_attention_hundred_thousands(X, Wq, Wk, Wv, causal=False):
    return self_attention(X, Wq, Wk, Wv, causal, -1e5)


def self_attention_hidden_cleared_thousands(X, Wq, Wk, Wv, causal=False):
    return self_attention_hidden_cleared(X, Wq, Wk, Wv, causal, -1e4)
