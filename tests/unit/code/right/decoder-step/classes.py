import numpy as np


def _softmax(z):
    z = np.exp(z - z.max(axis=-1, keepdims=True))
    return z / z.sum(axis=-1, keepdims=True)


class Attention:
    def __init__(self, W, U, v):
        if not len(W) == len(U) == len(v):
            raise ValueError("attention matrices")
        self.W, self.U, self.v = W, U, v

    def __call__(self, state, memory):
        hidden = np.tanh((self.W @ state)[:, None] + self.U @ memory.T)
        weights = _softmax(self.v @ hidden)
        return weights, weights @ memory


class Cell:
    def __init__(self, Wx, Ws):
        if not len(Wx) == len(Ws) == Ws.shape[1]:
            raise ValueError("cell matrices")
        self.weight = np.concatenate([Wx, Ws], axis=1)

    def __call__(self, x, state):
        return np.tanh(self.weight @ np.concatenate([x, state]))


class Decoder:
    def __init__(self, p):
        self.attention = Attention(p["W"], p["U"], p["v"])
        self.cell = Cell(p["Wx"], p["Ws"])
        self.out = p["Wy"]

    def step(self, y, s, H):
        weights, context = self.attention(s, H)
        state = self.cell(np.concatenate([context, y]), s)
        return weights, context, state, _softmax(self.out @ state)


def decoder_step(y, s, H, p):
    if len(s) != p["Ws"].shape[0]:
        raise ValueError("state")
    return Decoder(p).step(y, s, H)
