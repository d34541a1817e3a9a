def bilinear_scores(q, K, W):
    return K @ (W.T @ q) / K.shape[1] ** 0.5


def bilinear_scores_by_query(q, K, W):
    return K @ (W.T @ q) / len(q) ** 0.5


def bilinear_scores_by_d(q, K, W):
    return K @ (W.T @ q) / K.shape[1]
