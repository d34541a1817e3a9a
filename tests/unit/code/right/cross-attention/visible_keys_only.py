import numpy as np


def attend(Q, K, V, seen):
    """One sentence; every query takes the keys that it sees and no others."""
    rows = []
    for q, row in zip(Q, seen):
        if not row.any():
            rows.append(np.zeros(V.shape[1], V.dtype))
            continue
        s = K[row] @ q / Q.shape[1] ** 0.5
        w = np.exp(s - s.max())
        rows.append(w @ V[row] / w.sum())
    return np.stack(rows)


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    m, n, lead = X.shape[-2], M.shape[-2], X.shape[:-2]
    if M.shape[:-2] != lead or present.shape != (*lead, n) or mask.shape != (m, n):
        raise ValueError("axes")
    if Wq.shape[0] != X.shape[-1] or Wk.shape[0] != M.shape[-1] or Wv.shape[0] != M.shape[-1]:
        raise ValueError("features")
    if Wq.shape[1] != Wk.shape[1]:
        raise ValueError("dk")
    Q, K, V = (A.reshape(-1, *A.shape[-2:]) for A in (X @ Wq, M @ Wk, M @ Wv))
    parts = [attend(q, k, v, mask & p) for q, k, v, p in zip(Q, K, V, present.reshape(-1, n))]
    return np.array(parts).reshape(*lead, m, Wv.shape[1])
