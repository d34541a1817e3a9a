import numpy as np


def softmax(x):
    return np.exp(x) / np.sum(np.exp(x))


def decoder_step(y, s, H, p):
    w = softmax(np.tanh(p["W"] @ s + H @ p["U"].T) @ p["v"])
    c = w @ H
    s_new = np.tanh(p["Wx"] @ np.concatenate([c, y]) + p["Ws"] @ s)
    P = softmax(p["Wy"] @ s_new)
    return w, c, s_new, P
