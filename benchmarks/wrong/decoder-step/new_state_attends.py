import numpy as np


def smax(a):
    a = np.exp(a - np.max(a))
    return a / np.sum(a)


def decoder_step(y, s, H, p):
    def attend(state):
        w = smax(np.tanh(p["W"] @ state + H @ p["U"].T) @ p["v"])
        return w, w @ H

    w, c = attend(s)
    s_new = np.tanh(p["Wx"] @ np.concatenate([c, y]) + p["Ws"] @ s)
    w, c = attend(s_new)
    return w, c, s_new, smax(p["Wy"] @ s_new)
