import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    """Return the tokens that greedy search finds, as a list of int."""
    raise NotImplementedError("write me")
