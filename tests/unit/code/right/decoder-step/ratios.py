import numpy as np


def ratio_softmax(z):
    with np.errstate(over="ignore"):
        return 1 / np.exp(np.subtract.outer(z, z)).T.sum(axis=-1)


def ratio_softmax_checked(z):
    w = ratio_softmax(z)
    return w.astype(z.dtype)


def decoder_step(y, s, H, p):
    shapes = [p[k].shape for k in ("W", "U", "Wx", "Ws")]
    ds, dh = s.size, H.shape[-1]
    if shapes != [(p["v"].size, ds), (p["v"].size, dh), (ds, dh + y.size), (ds, ds)]:
        raise ValueError(str(shapes))
    keys = H.dot(p["U"].T)
    w = ratio_softmax_checked(np.tanh(keys + p["W"].dot(s)).dot(p["v"]))
    c = np.average(H, axis=0, weights=w).astype(H.dtype)
    s_new = np.tanh(p["Wx"].dot(np.append(c, y)) + p["Ws"].dot(s))
    return (w, c, s_new, ratio_softmax_checked(p["Wy"].dot(s_new)))
