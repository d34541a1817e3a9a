import numpy as np  # or: import torch (then the arrays arrive as tensors, and the results must be some)


def cross_entropy(logits, labels, pad):
    """Return the mean cross-entropy of the labels that count, in nats, and the perplexity.

    logits : (..., n, V), the scores of V tokens at n positions
    labels : (..., n), the right token at each position, or pad
    pad : int, the label of positions that don't count

    Returns: the tuple (loss, perplexity) of two numbers without axes, in the dtype of the logits.
    """
    raise NotImplementedError("write me")
