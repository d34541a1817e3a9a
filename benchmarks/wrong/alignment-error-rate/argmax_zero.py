import torch


def alignment_error_rate(A, sure, possible):
    links = torch.zeros_like(sure)
    links[A.argmax(dim=0), torch.arange(A.shape[1])] = True
    p = possible | sure
    hits = (links & sure).sum() + (links & p).sum()
    return (1 - hits / (links.sum() + sure.sum())).to(A.dtype)
