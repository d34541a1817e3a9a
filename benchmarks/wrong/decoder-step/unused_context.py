import numpy as np


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def decoder_step(y, s, H, p):
    w = softmax(np.tanh(H @ p["U"].T + p["W"] @ s) @ p["v"])
    c = w @ H
    dh = H.shape[1]
    input_part = p["Wx"][:, dh:] @ y
    s_new = np.tanh(input_part + p["Ws"] @ s)
    return w, c, s_new, softmax(p["Wy"] @ s_new)
