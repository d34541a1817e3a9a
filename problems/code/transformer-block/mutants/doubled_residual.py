import numpy as np


def layer_norm(X, gain, bias):
    centred = X - X.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / (variance + 1e-5) ** 0.5 * gain + bias


def attention(X, Wq, Wk, Wv, Wo):
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    scores = Q @ K.T / Q.shape[-1] ** 0.5
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V @ Wo


def feed_forward(X, W1, c1, W2, c2):
    return np.maximum(X @ W1 + c1, 0) @ W2 + c2


def transformer_block(X, p):
    normed = layer_norm(X, p["gain1"], p["bias1"])
    Y = X + attention(normed, p["Wq"], p["Wk"], p["Wv"], p["Wo"])
    normed = layer_norm(Y, p["gain2"], p["bias2"])
    return X + Y + feed_forward(normed, p["W1"], p["c1"], p["W2"], p["c2"])
