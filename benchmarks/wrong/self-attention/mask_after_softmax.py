import numpy as np


def self_attention(X, Wq, Wk, Wv, causal=False):
    Q, K, V = X.dot(Wq), X.dot(Wk), X.dot(Wv)
    scores = Q.dot(K.T) / float(K.shape[1]) ** 0.5
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = exps / exps.sum(axis=1, keepdims=True)
    if causal:
        weights = np.tril(weights)
    return weights.dot(V)
