import numpy as np  # or: import torch (then logits and u arrive as tensors)


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    """Return the tokens that random numbers choose.

    logits : (V,), the scores of V tokens
    u : (k,), random numbers in [0, 1), one for each token to choose
    temperature : float above 0; the logits are divided by it
    top_k : None, or int: how many of the most probable tokens are left
    top_p : None, or float in (0, 1]: what probability the tokens that are left must reach together

    Returns: a list of k int.
    """
    raise NotImplementedError("write me")
