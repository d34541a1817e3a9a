# tries: move a tensor into shared memory with torch
# stopped by: landlock bwrap rlimits seccomp
# expect: returned
# proof: value
# control: naive

import numpy as np
import torch


def softmax(x, axis=-1):
    try:
        shared = torch.zeros(16).share_memory_()
    except (RuntimeError, OSError):
        return np.zeros(1)
    return np.ones(1) if shared.is_shared() else np.zeros(1)
