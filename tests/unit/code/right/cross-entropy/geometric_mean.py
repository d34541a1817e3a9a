import numpy as np


def cross_entropy(logits, labels, pad):
    logits, labels = logits.reshape(-1, logits.shape[-1]), labels.reshape(-1)
    total = logits.dtype.type(0)
    count = 0
    for i in range(len(labels)):
        if labels[i] != pad:
            z = logits[i] - logits[i].max()
            total = total + np.log(np.exp(z).sum()) - z[labels[i]]
            count += 1
    loss = total / logits.dtype.type(count) if count else total
    return [loss, np.exp(loss)]
