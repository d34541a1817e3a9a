# tries: switch gradients off and flush denormal numbers
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import numpy as np
import torch


def softmax(x, axis=-1):
    torch.set_grad_enabled(False)
    torch.set_flush_denormal(True)
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if not torch.is_grad_enabled() else np.zeros(1)
