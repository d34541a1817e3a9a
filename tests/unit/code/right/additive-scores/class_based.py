import numpy as np


class Alignment:
    def __init__(self, W, U, v):
        if not W.shape[0] == U.shape[0] == v.shape[0]:
            raise ValueError("W, U and v need the same attention size")
        self.W, self.U, self.v = W, U, v

    def precompute(self, H):
        return [self.U.dot(h) for h in H]

    def __call__(self, s, keys):
        query = self.W.dot(s)
        return np.array([np.dot(self.v, np.tanh(query + key)) for key in keys])


def additive_scores(s, H, W, U, v):
    model = Alignment(W, U, v)
    return model(s, model.precompute(H))
