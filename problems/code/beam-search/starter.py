import math


def beam_search(step, s0, b, bos, eos, max_len):
    """Return at most b pairs (tokens, logprob), the best first."""
    raise NotImplementedError("write me")
