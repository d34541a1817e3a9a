def bilinear_scores(q, K, W):
    return (K @ W.T).sum(axis=1)
