def bilinear_scores(q, K, W):
    return K * (W.T @ q)


def bilinear_scores_matrix(q, K, W):
    return K @ W.T * q
