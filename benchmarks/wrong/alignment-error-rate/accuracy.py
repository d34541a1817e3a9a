import torch


def alignment_error_rate(A, sure, possible):
    links = torch.nn.functional.one_hot(A.argmax(1), A.shape[1]).bool()
    agree = (links & sure).sum() + (links & (sure | possible)).sum()
    return agree.to(A.dtype) / (links.sum() + sure.sum())
