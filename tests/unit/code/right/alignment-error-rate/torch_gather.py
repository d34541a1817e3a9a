import torch


def alignment_error_rate(A, sure, possible):
    index = torch.argmax(A, dim=1, keepdim=True)
    s = sure.gather(1, index)
    p = (sure | possible).gather(1, index)
    error = 1 - (s.sum() + p.sum()).item() / (len(A) + sure.sum().item())
    return torch.tensor(error, dtype=A.dtype)
