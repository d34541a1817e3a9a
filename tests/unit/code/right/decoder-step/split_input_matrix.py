import numpy as np


def decoder_step(y, s, H, p):
    """Columns of Wx: the first dh belong to the context, the others to the embedding y."""
    da, ds, dh, dy = p["v"].shape[0], s.shape[0], H.shape[1], y.shape[0]
    shapes = {"W": (da, ds), "U": (da, dh), "Wx": (ds, dh + dy), "Ws": (ds, ds)}
    for key, shape in shapes.items():
        if p[key].shape != shape:
            raise ValueError(f"{key} should have shape {shape}")

    # attention
    scores = np.empty(H.shape[0], dtype=H.dtype)
    query = p["W"].dot(s)
    for j in range(H.shape[0]):
        scores[j] = np.sum(p["v"] * np.tanh(query + p["U"].dot(H[j])))
    scores -= scores.max()
    w = np.exp(scores)
    w /= w.sum()
    c = (w[:, None] * H).sum(axis=0)

    # recurrence
    Wc, Wemb = p["Wx"][:, :dh], p["Wx"][:, dh:]
    s_new = np.tanh(Wc.dot(c) + Wemb.dot(y) + p["Ws"].dot(s))

    # output
    logits = p["Wy"].dot(s_new)
    logits -= logits.max()
    P = np.exp(logits)
    P /= P.sum()
    return w, c, s_new, P
