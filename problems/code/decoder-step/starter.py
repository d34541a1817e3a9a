import numpy as np


def decoder_step(y, s, H, p):
    """Return weights, context, new state and word probabilities of one step."""
    raise NotImplementedError("write me")
