import torch


def decoder_step(y, s, H, p):
    W, U, v = p["W"], p["U"], p["v"]
    w = torch.softmax(torch.tanh(W @ s + H @ U.T) @ v, dim=-1)
    c = w @ H
    s_new = torch.sigmoid(p["Wx"] @ torch.hstack((c, y)) + p["Ws"] @ s)
    P = torch.softmax(p["Wy"] @ s_new, dim=-1)
    return w, c, s_new, P
