def context(weights, H):
    w = weights / weights.sum(axis=-1, keepdims=True)
    return w @ H / len(H)
