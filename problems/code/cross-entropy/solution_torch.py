import torch


def cross_entropy(logits, labels, pad):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]  # (count, V), (count,)
    if len(rows) == 0:
        return logits.new_tensor(0), logits.new_tensor(1)
    loss = torch.nn.functional.cross_entropy(rows, right)
    return loss, torch.exp(loss)
