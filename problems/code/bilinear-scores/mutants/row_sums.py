def bilinear_scores(q, K, W):
    return K @ (W.sum(axis=1) * q)


def bilinear_scores_columns(q, K, W):
    return K @ (W.sum(axis=0) * q)


def bilinear_scores_whole(q, K, W):
    return K @ q * W.sum()
