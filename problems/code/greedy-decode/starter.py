import numpy as np  # or: import torch (then P arrives as a tensor)


def greedy_decode(step, s0, bos, eos, max_len):
    """Return the tokens that greedy search finds.

    step : function (y, s) -> (P, s_new), where P has the shape (tokens,)
    s0 : the first state
    bos, eos : int, the start and the end symbol
    max_len : int, the most tokens

    Returns: a list of int.
    """
    raise NotImplementedError("write me")
