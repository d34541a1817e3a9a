import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def sdpa_grad(Q, K, V, G):
    """Return the gradients of scaled dot-product attention.

    Q : (m, d)
    K : (n, d)
    V : (n, dv)
    G : (m, dv), the gradient with respect to the output

    Returns: the tuple (dQ, dK, dV), of the shapes of Q, K and V.
    """
    raise NotImplementedError("write me")
