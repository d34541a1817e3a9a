import torch


def additive_scores(s, H, W, U, v):
    return torch.tanh(W @ s + H.detach() @ U.T) @ v


def additive_scores_state(s, H, W, U, v):
    return torch.tanh(W @ s.detach() + H @ U.T) @ v


def additive_scores_query(s, H, W, U, v):
    return torch.tanh((W @ s).detach() + H @ U.T) @ v


def additive_scores_sum(s, H, W, U, v):
    return torch.tanh(W @ s + H @ U.T).detach() @ v


def additive_scores_keys(s, H, W, U, v):
    return torch.tanh(W @ s + (H @ U.T).detach()) @ v
