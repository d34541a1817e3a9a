import torch


def decoder_step(y, s, H, p):
    W, U, v, Wx, Ws, Wy = (p[name] for name in ["W", "U", "v", "Wx", "Ws", "Wy"])
    if not (W.shape[0] == U.shape[0] == v.shape[0] and Ws.shape == (s.numel(), s.numel())):
        raise ValueError("sizes")
    if Wx.shape[0] != Ws.shape[0]:
        raise ValueError("Wx and Ws need the same rows")
    scores = []
    for h in H:
        scores.append(v.dot(torch.tanh(W.mv(s) + U.mv(h))))
    w = torch.stack(scores).softmax(0)
    c = torch.zeros_like(H[0])
    for weight, h in zip(w, H, strict=True):
        c = c + weight * h
    s_new = torch.tanh(Wx.mv(torch.cat((c, y))) + Ws.mv(s))
    return w, c, s_new, Wy.mv(s_new).softmax(0)
