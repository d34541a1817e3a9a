import torch


def additive_scores(s, H, W, U, v):
    scores = (W @ s + H @ U.T) @ v
    return scores.softmax(0)
