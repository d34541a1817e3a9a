def context(weights, H):
    return weights @ H[::-1] / len(H)
