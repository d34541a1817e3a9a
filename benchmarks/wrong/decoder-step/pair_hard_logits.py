import numpy as np


def decoder_step(y, s, H, p):
    e = np.tanh(p["W"] @ s + H @ p["U"].T) @ p["v"]
    w = (np.arange(e.size) == e.argmax()).astype(e.dtype)
    c = w @ H
    s_new = np.tanh(p["Wx"] @ np.hstack([c, y]) + p["Ws"] @ s)
    return w, c, s_new, p["Wy"] @ s_new
