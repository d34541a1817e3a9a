import numpy as np


def additive_scores(s, H, W, U, v):
    sizes = {}
    for names, array in (("s", s), ("nh", H), ("as", W), ("ah", U), ("a", v)):
        for name, size in zip(names, array.shape, strict=True):
            if sizes.setdefault(name, size) != size:
                raise ValueError(f"{name} is {size} and {sizes[name]}")
    query = np.einsum("as,s->a", W, s)
    keys = np.einsum("ah,nh->na", U, H)
    return np.einsum("na,a->n", np.tanh(query[None] + keys), v)
