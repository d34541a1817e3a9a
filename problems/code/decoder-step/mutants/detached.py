import torch


def softmax(x):
    e = torch.exp(x - x.max())
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
    scores = torch.tanh(W @ s + H @ U.T) @ v
    w = softmax(scores)
    c = w.detach() @ H
    s_new = torch.tanh(Wx @ torch.cat([c, y]) + Ws @ s)
    P = softmax(Wy @ s_new)
    return w, c, s_new, P


def decoder_step_weights(y, s, H, p):
    W, U, v, Wx, Ws, Wy = parameters(y, s, H, p)
    scores = torch.tanh(W @ s + H @ U.T) @ v
    w = softmax(scores).detach()
    c = w @ H
    s_new = torch.tanh(Wx @ torch.cat([c, y]) + Ws @ s)
    P = softmax(Wy @ s_new)
    return w, c, s_new, P


def decoder_step_context(y, s, H, p):
    W, U, v, Wx, Ws, Wy = parameters(y, s, H, p)
    scores = torch.tanh(W @ s + H @ U.T) @ v
    w = softmax(scores)
    c = w @ H
    s_new = torch.tanh(Wx @ torch.cat([c.detach(), y]) + Ws @ s)
    P = softmax(Wy @ s_new)
    return w, c, s_new, P


def decoder_step_context_out(y, s, H, p):
    W, U, v, Wx, Ws, Wy = parameters(y, s, H, p)
    scores = torch.tanh(W @ s + H @ U.T) @ v
    w = softmax(scores)
    c = (w @ H).detach()
    s_new = torch.tanh(Wx @ torch.cat([c, y]) + Ws @ s)
    P = softmax(Wy @ s_new)
    return w, c, s_new, P


def decoder_step_state(y, s, H, p):
    W, U, v, Wx, Ws, Wy = parameters(y, s, H, p)
    scores = torch.tanh(W @ s + H @ U.T) @ v
    w = softmax(scores)
    c = w @ H
    s_new = torch.tanh(Wx @ torch.cat([c, y]) + Ws @ s)
    P = softmax(Wy @ s_new.detach())
    return w, c, s_new, P


def decoder_step_state_out(y, s, H, p):
    W, U, v, Wx, Ws, Wy = parameters(y, s, H, p)
    scores = torch.tanh(W @ s + H @ U.T) @ v
    w = softmax(scores)
    c = w @ H
    s_new = torch.tanh(Wx @ torch.cat([c, y]) + Ws @ s).detach()
    P = softmax(Wy @ s_new)
    return w, c, s_new, P


def decoder_step_previous(y, s, H, p):
    W, U, v, Wx, Ws, Wy = parameters(y, s, H, p)
    scores = torch.tanh(W @ s.detach() + H @ U.T) @ v
    w = softmax(scores)
    c = w @ H
    s_new = torch.tanh(Wx @ torch.cat([c, y]) + Ws @ s.detach())
    P = softmax(Wy @ s_new)
    return w, c, s_new, P
