# tries: make torch's allocator ask for 8 GiB
# stopped by: rlimits
# expect: returned
# proof: value
# control: naive

import numpy as np
import torch


def softmax(x, dim=-1, axis=-1):
    try:
        giant = torch.empty(2**30, dtype=torch.float64)
    except (RuntimeError, MemoryError):
        return np.zeros(1)
    return np.ones(1) if giant.numel() == 2**30 else np.zeros(1)
