import numpy as np  # or: import torch (then the arrays arrive as tensors, and the results must be tensors)


def layer_norm_grad(x, gamma, G, eps=1e-5):
    """Return the gradients of a loss with respect to the arguments of layer normalisation.

    x : (..., d)
    gamma : (d,)
    G : the shape of x, the loss's gradient with respect to the output
    eps : float, added to the variance

    Returns: the tuple (dx, dgamma, dbeta), of the shapes (..., d), (d,) and (d,).
    """
    raise NotImplementedError("write me")
