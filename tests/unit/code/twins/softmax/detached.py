import torch


def softmax(x, axis=-1):
    log_total = torch.logsumexp(x, dim=axis, keepdim=True)
    with torch.no_grad():
        constant = log_total.clone()
    return torch.exp(x - constant)
