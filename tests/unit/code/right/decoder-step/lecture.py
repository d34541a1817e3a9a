import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


def decoder_step(y, s, H, p):
    W, U, v, Wx, Ws, Wy = p["W"], p["U"], p["v"], p["Wx"], p["Ws"], p["Wy"]
    n, dh = H.shape
    ds, dy, da = len(s), len(y), len(v)
    if W.shape != (da, ds) or U.shape != (da, dh) or Wx.shape != (ds, dh + dy):
        raise ValueError("W, U or Wx")
    if Ws.shape != (ds, ds) or Wy.shape[1] != ds:
        raise ValueError("Ws or Wy")
    e = np.array([v @ np.tanh(W @ s + U @ h) for h in H])
    w = softmax(e)
    c = np.zeros(dh, dtype=H.dtype)
    for j in range(n):
        c += w[j] * H[j]
    s_new = np.tanh(Wx @ np.concatenate([c, y]) + Ws @ s)
    P = softmax(Wy @ s_new)
    return w, c, s_new, P
