import numpy as np


class Norm:
    def __init__(self, gain, bias):
        self.gain, self.bias = gain, bias

    def __call__(self, X):
        return (X - X.mean(-1, keepdims=True)) / np.sqrt(
            X.var(-1, keepdims=True) + 1e-5
        ) * self.gain + self.bias


class Head:
    def __init__(self, Wq, Wk, Wv, Wo):
        self.Wq, self.Wk, self.Wv, self.Wo = Wq, Wk, Wv, Wo

    def __call__(self, X):
        scores = np.einsum("ia,ja->ij", X @ self.Wq, X @ self.Wk) * self.Wq.shape[1] ** -0.5
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        return weights @ (X @ self.Wv @ self.Wo)


class Network:
    def __init__(self, W1, c1, W2, c2):
        self.layers = [(W1, c1), (W2, c2)]

    def __call__(self, X):
        (W1, c1), (W2, c2) = self.layers
        hidden = X @ W1 + c1
        return np.where(hidden > 0, hidden, 0) @ W2 + c2


class Residual:
    def __init__(self, norm, inner):
        self.norm, self.inner = norm, inner

    def __call__(self, X):
        return X + self.inner(self.norm(X))


def transformer_block(X, p):
    first = Residual(Norm(p["gain1"], p["bias1"]), Head(p["Wq"], p["Wk"], p["Wv"], p["Wo"]))
    second = Residual(Norm(p["gain2"], p["bias2"]), Network(p["W1"], p["c1"], p["W2"], p["c2"]))
    return second(first(X))
