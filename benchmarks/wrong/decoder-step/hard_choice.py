import numpy as np


def decoder_step(y, s, H, p):
    scores = np.tanh(p["W"] @ s + H @ p["U"].T) @ p["v"]
    w = np.zeros_like(scores)
    w[np.argmax(scores)] = 1
    c = H[np.argmax(scores)].copy()
    z = np.r_[c, y]
    s_new = np.tanh(p["Wx"] @ z + p["Ws"] @ s)
    logits = p["Wy"] @ s_new
    exps = np.exp(logits - np.max(logits))
    return w, c, s_new, exps / np.sum(exps)
