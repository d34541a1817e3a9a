import numpy as np


def soft(z):
    z = np.exp(z - z.max())
    return z / z.sum()


def decoder_step(y, s, H, p):
    energies = np.array([p["v"] @ np.tanh(p["W"] @ s + p["U"] @ h) for h in H], dtype=H.dtype)
    w = soft(energies)
    for weight, h in zip(w, H):
        c = h  # context
    s_new = np.tanh(p["Wx"] @ np.concatenate([c, y]) + p["Ws"] @ s)
    return w, c, s_new, soft(p["Wy"] @ s_new)
