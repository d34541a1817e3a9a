import torch


def decoder_step(y, s, H, p):
    """Keeps one shape per name and complains when two disagree."""
    da, ds, dh, dy = len(p["v"]), len(s), H.size(1), len(y)
    for name, shape in dict(W=(da, ds), U=(da, dh), Wx=(ds, dh + dy), Ws=(ds, ds)).items():
        if tuple(p[name].size()) != shape:
            raise ValueError(name)
    if p["Wy"].size(1) != ds:
        raise ValueError("Wy")
    hidden = torch.tanh(torch.einsum("as,s->a", p["W"], s) + torch.einsum("ah,nh->na", p["U"], H))
    w = torch.log_softmax(torch.einsum("na,a->n", hidden, p["v"]), 0).exp()
    c = torch.einsum("n,nh->h", w, H)
    inputs = torch.einsum("sx,x->s", p["Wx"], torch.concat([c, y]))
    s_new = (inputs + torch.einsum("st,t->s", p["Ws"], s)).tanh()
    P = torch.log_softmax(torch.einsum("ws,s->w", p["Wy"], s_new), 0).exp()
    return (w, c, s_new, P)
