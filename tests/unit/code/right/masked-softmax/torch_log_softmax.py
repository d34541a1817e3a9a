import torch


def masked_softmax(scores, mask):
    seen = torch.broadcast_to(mask, scores.shape)
    s = torch.where(seen, scores, -torch.inf)
    log_z = s.logsumexp(-1, keepdim=True)
    log_z = torch.where(log_z == -torch.inf, torch.zeros_like(log_z), log_z)
    return (s - log_z).exp()
