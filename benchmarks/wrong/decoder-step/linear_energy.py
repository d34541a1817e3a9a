import torch


def decoder_step(y, s, H, p):
    e = (H @ p["U"].t() + p["W"] @ s) @ p["v"]
    w = torch.softmax(e, 0)
    c = w @ H
    s_new = torch.tanh(p["Wx"] @ torch.cat([c, y]) + p["Ws"] @ s)
    return w, c, s_new, torch.softmax(p["Wy"] @ s_new, 0)
