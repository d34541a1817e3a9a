import torch


def decoder_step(y, s, H, p):
    y, s = y.unsqueeze(1), s.unsqueeze(1)
    v = p["v"].unsqueeze(1)
    if not p["W"].shape[0] == p["U"].shape[0] == v.shape[0]:
        raise ValueError("da")
    if not p["Wx"].shape[0] == p["Ws"].shape[0] == s.shape[0]:
        raise ValueError("ds")
    e = v.mT @ torch.tanh(p["W"] @ s + p["U"] @ H.mT)  # (1, n)
    w = torch.exp(e - torch.logsumexp(e, dim=1, keepdim=True))
    c = (w @ H).mT
    s_new = torch.tanh(torch.hstack([p["Wx"], p["Ws"]]) @ torch.vstack([c, y, s]))
    logits = p["Wy"] @ s_new
    P = torch.exp(logits - torch.logsumexp(logits, dim=0, keepdim=True))
    return w.squeeze(0), c.squeeze(1), s_new.squeeze(1), P.squeeze(1)
