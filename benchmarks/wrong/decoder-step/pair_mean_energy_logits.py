import torch


def decoder_step(y, s, H, p):
    if p["Ws"].shape != (len(s), len(s)) or p["U"].shape[1] != H.shape[1] or p["W"].shape[1] != len(s):
        raise ValueError("sizes")
    if p["Wx"].shape != (len(s), H.shape[1] + len(y)) or p["Wy"].shape[1] != len(s):
        raise ValueError("sizes")
    if not len(p["v"]) == len(p["W"]) == len(p["U"]):
        raise ValueError("sizes")
    energy = torch.tanh(H @ p["U"].T + p["W"] @ s).sum(dim=1)
    w = torch.softmax(energy, dim=0)
    c = w @ H
    new = torch.tanh(p["Wx"] @ torch.cat((c, y)) + p["Ws"] @ s)
    return w, c, new, p["Wy"] @ new
