import numpy as np


def decoder_step(y, s, H, p):
    attn = np.tanh(p["W"] @ s + H @ p["U"].T) @ p["v"]
    probs = np.exp(attn - attn.max()) / np.exp(attn - attn.max()).sum()
    context = probs @ H
    new = np.tanh(p["Wx"] @ np.concatenate([context, y]) + p["Ws"] @ s)
    z = p["Wy"] @ new
    out = np.exp(z - z.max())
    return attn, context, new, out / out.sum()
