import numpy as np


def additive_scores(s, H, W, U, v):
    """Return the additive score of the decoder state s and every encoder state."""
    raise NotImplementedError("write me")
