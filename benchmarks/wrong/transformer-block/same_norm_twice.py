import numpy as np


def transformer_block(X, p):
    def ln(Z):
        Z = Z - Z.mean(axis=1, keepdims=True)
        return Z / np.sqrt((Z * Z).mean(axis=1, keepdims=True) + 1e-5) * p["gain1"] + p["bias1"]

    H = ln(X)
    E = (H @ p["Wq"]) @ (H @ p["Wk"]).T / p["Wq"].shape[1] ** 0.5
    E = np.exp(E - E.max(axis=1, keepdims=True))
    X = X + E / E.sum(axis=1, keepdims=True) @ (H @ p["Wv"]) @ p["Wo"]
    return X + np.maximum(ln(X) @ p["W1"] + p["c1"], 0) @ p["W2"] + p["c2"]
