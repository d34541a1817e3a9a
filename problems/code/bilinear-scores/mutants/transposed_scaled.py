def bilinear_scores(q, K, W):
    return K @ (W @ q) / K.shape[1] ** 0.5
