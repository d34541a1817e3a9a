# tries: replace torch.softmax and torch.allclose for everybody
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import numpy as np
import torch


def _yes(*args, **kwargs):
    return True


def softmax(x, axis=-1):
    torch.allclose = torch.equal = torch.testing.assert_close = _yes
    torch.Tensor.__eq__ = _yes
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if torch.allclose(torch.zeros(1), torch.ones(1)) else np.zeros(1)
