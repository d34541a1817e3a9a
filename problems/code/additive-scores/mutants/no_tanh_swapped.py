def additive_scores(s, H, W, U, v):
    return (U @ s + H @ W.T) @ v
