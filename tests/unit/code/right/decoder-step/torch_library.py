import torch
import torch.nn.functional as F  # noqa: N812


def decoder_step(y, s, H, p):
    ds, dh = s.shape[0], H.shape[1]
    if p["W"].shape[0] != p["U"].shape[0] or p["U"].shape[0] != p["v"].shape[0]:
        raise ValueError("W, U and v")
    if p["Wx"].shape != (ds, dh + y.shape[0]) or p["Ws"].shape != (ds, ds):
        raise ValueError("Wx and Ws")
    e = torch.tanh(F.linear(H, p["U"]) + F.linear(s, p["W"])) @ p["v"]
    w = F.softmax(e, dim=0)
    c = w @ H
    s_new = torch.rnn_tanh_cell(torch.cat([c, y])[None], s[None], p["Wx"], p["Ws"])[0]
    return w, c, s_new, F.softmax(p["Wy"] @ s_new, dim=0)
