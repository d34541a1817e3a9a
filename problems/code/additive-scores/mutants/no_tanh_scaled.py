def additive_scores(s, H, W, U, v):
    return (W @ s + H @ U.T) @ v / len(v) ** 0.5
