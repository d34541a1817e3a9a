import numpy as np  # or: import torch (then the arrays arrive as tensors)


def alignment_error_rate(A, sure, possible):
    """Return the alignment error rate of a soft alignment.

    A : (m, n), the attention weights of m target words over n source words
    sure : boolean (m, n), links that an annotator is sure of
    possible : boolean (m, n), links that an annotator accepts; sure ones are accepted, too

    Returns: a number.
    """
    raise NotImplementedError("write me")
