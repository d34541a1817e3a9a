import numpy as np

NAMES = {"W": "as", "U": "ah", "v": "a", "Wx": "sx", "Ws": "sr", "Wy": "ws"}


def decoder_step(y, s, H, p):
    size = {"s": s.shape[0], "r": s.shape[0], "h": H.shape[1], "x": H.shape[1] + y.shape[0]}
    for name, axes in NAMES.items():
        for axis, length in zip(axes, p[name].shape, strict=True):
            if size.setdefault(axis, length) != length:
                raise ValueError(f"{name}: axis {axis} is {length}, not {size[axis]}")
    e = np.einsum(
        "a,na->n", p["v"], np.tanh(np.einsum("as,s->a", p["W"], s) + np.einsum("ah,nh->na", p["U"], H))
    )
    w = np.exp(e - np.logaddexp.reduce(e))
    c = np.einsum("n,nh->h", w, H)
    s_new = np.tanh(np.einsum("sx,x->s", p["Wx"], np.r_[c, y]) + np.einsum("sr,r->s", p["Ws"], s))
    logits = np.einsum("ws,s->w", p["Wy"], s_new)
    return w, c, s_new, np.exp(logits - np.logaddexp.reduce(logits))
