# tries: change torch's default dtype
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import numpy as np
import torch


def softmax(x, axis=-1):
    torch.set_default_dtype(torch.float16)
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if torch.get_default_dtype() == torch.float16 else np.zeros(1)
