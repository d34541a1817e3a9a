import numpy as np


def decoder_step(y, s, H, p):
    check(y, s, H, **p)
    scores = np.tanh(s @ p["W"].T + H @ p["U"].T) @ p["v"]
    w = normalise(scores)
    c = w @ H
    s_new = np.tanh(np.hstack((c, y)) @ p["Wx"].T + s @ p["Ws"].T)
    return w, c, s_new, normalise(s_new @ p["Wy"].T)


def normalise(z):
    z = z - z.max()
    return np.exp(z) / np.exp(z).sum()


def check(y, s, H, W, U, v, Wx, Ws, Wy):
    (da,), (ds,), (dy,), (_, dh), (words, _) = v.shape, s.shape, y.shape, H.shape, Wy.shape
    wanted = [(da, ds), (da, dh), (ds, dh + dy), (ds, ds), (words, ds)]
    if [M.shape for M in (W, U, Wx, Ws, Wy)] != wanted:
        raise ValueError("the parameters' sizes don't fit")
