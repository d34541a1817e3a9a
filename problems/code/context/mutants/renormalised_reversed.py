def context(weights, H):
    return (weights / weights.sum(axis=-1, keepdims=True))[..., ::-1] @ H
