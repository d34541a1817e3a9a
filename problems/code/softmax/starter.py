import numpy as np


def softmax(x, axis=-1):
    """Return the softmax of x along one axis."""
    raise NotImplementedError("write me")
