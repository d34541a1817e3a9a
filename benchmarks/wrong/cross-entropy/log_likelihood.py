import torch


def cross_entropy(logits, labels, pad):
    keep = labels != pad
    if not bool(keep.any()):
        return logits.new_zeros(()), logits.new_ones(())
    logp = logits.log_softmax(-1)[keep]
    loss = logp.gather(1, labels[keep][:, None]).mean()
    return loss, torch.exp(-loss)
