import math  # numpy and torch are there too; if you import torch, P arrives as a tensor


def beam_search(step, s0, b, bos, eos, max_len):
    """Return the hypotheses that beam search finds, the best first.

    step : function (y, s) -> (P, s_new), where P has the shape (tokens,)
    s0 : the first state
    b : int, the width of the beam
    bos, eos : int, the start and the end symbol
    max_len : int, the most tokens of a hypothesis

    Returns: a list of at most b pairs (list of int, float).
    """
    raise NotImplementedError("write me")
