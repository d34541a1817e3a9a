import numpy as np


class Cell:
    def __init__(self, W, U, state):
        if W.shape[0] != U.shape[0] or W.shape != (state.size, state.size):
            raise ValueError("recurrent and input weights must fit the state")
        self.W, self.U, self.state = W, U, state

    def __call__(self, x):
        z = np.einsum("ij,j->i", self.W, self.state) + self.U.dot(x)
        ez = np.exp(-np.abs(z))
        self.state = np.where(z < 0, ez, np.ones_like(ez)) / (1 + ez)
        return self.state


def rnn_forward(X, W, U, h0):
    cell = Cell(W, U, h0)
    return np.vstack([cell(x) for x in X])
