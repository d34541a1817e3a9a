import numpy as np


def normalise(X, gain, bias):
    mu = np.mean(X, axis=1, keepdims=True)
    sigma = np.sqrt(np.mean(X * X, axis=1, keepdims=True) - mu * mu + 1e-5) if X.dtype == np.float64 else None
    if sigma is None:
        sigma = np.sqrt(np.var(X, axis=1, keepdims=True) + np.float32(1e-5))
    return (X - mu) / sigma * gain + bias


def transformer_block(X, p):
    dk = p["Wq"].shape[1]
    joined = normalise(X, p["gain1"], p["bias1"]) @ np.concatenate([p["Wq"], p["Wk"], p["Wv"]], axis=1)
    Q, K, V = np.split(joined, [dk, 2 * dk], axis=1)
    logits = Q @ K.T / dk**0.5
    weights = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    X = X + weights @ V @ p["Wo"]
    hidden = normalise(X, p["gain2"], p["bias2"]) @ p["W1"] + p["c1"]
    return X + (np.abs(hidden) + hidden) / 2 @ p["W2"] + p["c2"]
