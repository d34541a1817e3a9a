# tries: a tensor of 10**12 elements that is 8 bytes in memory
# stopped by: decoder
# expect: too_large
# proof: naive-encode
# control: naive-encode

import torch


def softmax(x, axis=-1):
    return torch.zeros(1, dtype=torch.float64).expand(10**12)
