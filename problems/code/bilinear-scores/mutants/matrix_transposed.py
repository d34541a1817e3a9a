def bilinear_scores(q, K, W):
    return K @ (W @ q)


def bilinear_scores_where_it_fits(q, K, W):
    return K @ (W @ q) if W.shape[0] == W.shape[1] else K @ (W.T @ q)
