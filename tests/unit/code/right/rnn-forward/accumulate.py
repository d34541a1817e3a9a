from itertools import accumulate, islice

import numpy as np


def rnn_forward(X, W, U, h0):
    dh, dx = len(h0), X.shape[1]
    if (W.shape, U.shape) != ((dh, dh), (dh, dx)):
        raise ValueError("shapes of W and U")

    def advance(h, x):
        z = W.dot(h) + U.dot(x)
        return np.exp(-np.logaddexp(0, -z)).astype(h.dtype)

    return np.array(list(islice(accumulate(X, advance, initial=h0), 1, None)))
