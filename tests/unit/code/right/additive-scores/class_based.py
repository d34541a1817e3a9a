from dataclasses import dataclass

import numpy as np


@dataclass
class Alignment:
    W: np.ndarray
    U: np.ndarray
    v: np.ndarray

    def __post_init__(self):
        if not self.W.shape[0] == self.U.shape[0] == self.v.shape[0]:
            raise ValueError("W, U and v need the same attention size")

    def precompute(self, H):
        return [self.U.dot(h) for h in H]

    def __call__(self, s, keys):
        query = self.W.dot(s)
        return np.array([np.dot(self.v, np.tanh(query + key)) for key in keys])


def additive_scores(s, H, W, U, v):
    model = Alignment(W, U, v)
    return model(s, model.precompute(H))
