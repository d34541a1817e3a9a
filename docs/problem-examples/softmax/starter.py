"""The file that students start from."""

import numpy as np  # noqa: F401


def softmax(x, axis=-1):
    """Turn scores into weights along an axis."""
    raise NotImplementedError
