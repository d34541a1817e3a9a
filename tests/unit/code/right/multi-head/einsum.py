import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    d, dm = Wq.shape
    if h < 1 or dm != dm // h * h:
        raise ValueError("h")
    if X.shape[1] != d or Wk.shape != (d, dm) or Wv.shape != (d, dm) or Wo.shape[0] != dm:
        raise ValueError("X, Wk, Wv or Wo")
    q, k, v = (np.einsum("nd,dhc->hnc", X, W.reshape(d, h, dm // h)) for W in (Wq, Wk, Wv))
    e = np.einsum("hic,hjc->hij", q, k) * (h / dm) ** 0.5
    a = np.exp(e - e.max(-1, keepdims=True))
    a = a / a.sum(-1, keepdims=True)
    return np.einsum("hij,hjc,hco->io", a, v, Wo.reshape(h, dm // h, -1))
