def bilinear_scores(q, K, W):
    return K @ (W @ q)
