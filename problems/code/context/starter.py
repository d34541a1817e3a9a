import numpy as np


def context(weights, H):
    """Return the sum of the states, each times its weight."""
    raise NotImplementedError("write me")
