def context(weights, H):
    return H[weights.argmax(axis=-1)]
