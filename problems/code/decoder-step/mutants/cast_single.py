import numpy as np


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def parameters(y, s, H, p):
    W, U, v, Wx, Ws, Wy = (p[name] for name in ("W", "U", "v", "Wx", "Ws", "Wy"))
    if Ws.shape != (len(s), len(s)) or W.shape != (len(v), len(s)) or U.shape != (len(v), H.shape[1]):
        raise ValueError("the sizes don't fit")
    if Wx.shape != (len(s), H.shape[1] + len(y)) or Wy.shape[1] != len(s):
        raise ValueError("the sizes don't fit")
    return W, U, v, Wx, Ws, Wy


def decoder_step(y, s, H, p):
    W, U, v, Wx, Ws, Wy = parameters(y, s, H, p)
    scores = np.tanh(W @ s + H @ U.T) @ v
    w = softmax(scores)
    c = w @ H
    s_new = np.tanh(Wx @ np.concatenate([c, y]) + Ws @ s)
    P = softmax(Wy @ s_new)
    return tuple(one.astype(np.float32).astype(H.dtype) for one in (w, c, s_new, P))


def decoder_step_weights(y, s, H, p):
    W, U, v, Wx, Ws, Wy = parameters(y, s, H, p)
    scores = np.tanh(W @ s + H @ U.T) @ v
    w = softmax(scores.astype(np.float32)).astype(H.dtype)
    c = w @ H
    s_new = np.tanh(Wx @ np.concatenate([c, y]) + Ws @ s)
    P = softmax(Wy @ s_new)
    return w, c, s_new, P
