import numpy as np


def cross_entropy(logits, labels, pad):
    z = logits - logits.max(-1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(-1, keepdims=True))
    picked = np.take_along_axis(logp, labels[..., None], -1)
    loss = -picked.mean()
    return loss, np.exp(loss)
