import numpy as np


def sdpa_grad(Q, K, V, G):
    """Return the gradients (dQ, dK, dV)."""
    raise NotImplementedError("write me")
