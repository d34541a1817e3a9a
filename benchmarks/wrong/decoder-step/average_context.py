import torch


def decoder_step(y, s, H, p):
    e = torch.tanh(H @ p["U"].T + p["W"] @ s) @ p["v"]
    w = torch.softmax(e, dim=0)
    c = H.mean(dim=0)
    s_new = torch.tanh(p["Wx"] @ torch.cat([c, y]) + p["Ws"] @ s)
    P = torch.softmax(p["Wy"] @ s_new, dim=0)
    return w, c, s_new, P
