import numpy as np


class Network:
    """Two layers without biases."""

    def __init__(self, first, second):
        self.first, self.second = first, second

    def __call__(self, x):
        hidden = np.array([np.tanh(np.dot(row, x)) for row in self.first])
        return np.dot(self.second, hidden)


def concat_scores(q, K, W1, w2):
    network = Network(W1, w2)
    return np.array([network(np.append(q, k)) for k in K], dtype=W1.dtype)
