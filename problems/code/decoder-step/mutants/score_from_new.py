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
    first = softmax(np.tanh(W @ s + H @ U.T) @ v) @ H
    new = np.tanh(Wx @ np.concatenate([first, y]) + Ws @ s)
    scores = np.tanh(W @ new + H @ U.T) @ v
    w = softmax(scores)
    c = w @ H
    s_new = np.tanh(Wx @ np.concatenate([c, y]) + Ws @ s)
    P = softmax(Wy @ s_new)
    return w, c, s_new, P


def decoder_step_late(y, s, H, p):
    W, U, v, Wx, Ws, Wy = parameters(y, s, H, p)
    first = softmax(np.tanh(W @ s + H @ U.T) @ v) @ H
    s_new = np.tanh(Wx @ np.concatenate([first, y]) + Ws @ s)
    scores = np.tanh(W @ s_new + H @ U.T) @ v
    w = softmax(scores)
    c = w @ H
    P = softmax(Wy @ s_new)
    return w, c, s_new, P


def decoder_step_no_context(y, s, H, p):
    W, U, v, Wx, Ws, Wy = parameters(y, s, H, p)
    s_new = np.tanh(Wx[:, H.shape[1] :] @ y + Ws @ s)
    scores = np.tanh(W @ s_new + H @ U.T) @ v
    w = softmax(scores)
    c = w @ H
    P = softmax(Wy @ s_new)
    return w, c, s_new, P


def decoder_step_both(y, s, H, p):
    W, U, v, Wx, Ws, Wy = parameters(y, s, H, p)
    new = np.tanh(Wx[:, H.shape[1] :] @ y + Ws @ s)
    scores = np.tanh(W @ new + H @ U.T) @ v
    w = softmax(scores)
    c = w @ H
    s_new = np.tanh(Wx @ np.concatenate([c, y]) + Ws @ s)
    P = softmax(Wy @ s_new)
    return w, c, s_new, P
