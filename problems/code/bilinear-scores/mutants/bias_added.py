def bilinear_scores(q, K, W):
    return K @ (W.T @ q) + 1


def bilinear_scores_sum_of_query(q, K, W):
    return K @ (W.T @ q) + q.sum()


def bilinear_scores_key_sums(q, K, W):
    return K @ (W.T @ q) + K.sum(axis=1)
