import torch


def alignment_error_rate(A, sure, possible):
    links = torch.nn.functional.one_hot(A.argmax(1), A.shape[1]).bool()
    precision = (links & (sure | possible)).sum().to(A.dtype) / links.sum()
    recall = (links & sure).sum().to(A.dtype) / sure.sum() if sure.any() else torch.ones((), dtype=A.dtype)
    if precision + recall == 0:
        return torch.ones((), dtype=A.dtype)
    return 1 - 2 * precision * recall / (precision + recall)
