import numpy as np


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def decoder_step(y, s, H, p):
    W, U, v, Wx, Ws, Wy = (p[name] for name in ("W", "U", "v", "Wx", "Ws", "Wy"))
    if Ws.shape != (len(s), len(s)) or W.shape != (len(v), len(s)) or U.shape != (len(v), H.shape[1]):
        raise ValueError("the sizes don't fit")
    if Wx.shape != (len(s), H.shape[1] + len(y)) or Wy.shape[1] != len(s):
        raise ValueError("the sizes don't fit")
    scores = (W @ s + H @ U.T) @ v
    w = softmax(scores)
    c = w @ H
    s_new = np.tanh(Wx @ np.concatenate([c, y]) + Ws @ s)
    P = Wy @ s_new
    return w, c, s_new, P
