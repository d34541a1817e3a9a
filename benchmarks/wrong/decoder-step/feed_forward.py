import numpy as np


def decoder_step(y, s, H, p):
    n = H.shape[0]
    e = np.zeros(n, dtype=H.dtype)
    for j in range(n):
        e[j] = p["v"].dot(np.tanh(p["W"].dot(s) + p["U"].dot(H[j])))
    alpha = np.exp(e - e.max())
    alpha /= alpha.sum()
    c = np.zeros(H.shape[1], dtype=H.dtype)
    for j in range(n):
        c += alpha[j] * H[j]
    s_new = np.tanh(p["Wx"].dot(np.concatenate((c, y))))
    o = p["Wy"].dot(s_new)
    o = np.exp(o - o.max())
    return alpha, c, s_new, o / o.sum()
