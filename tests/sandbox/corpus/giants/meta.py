# tries: a tensor without memory, of 10**15 elements
# stopped by: decoder
# expect: unsupported
# proof: naive-encode
# control: naive-encode

import torch


def softmax(x, axis=-1):
    return torch.empty(10**15, device="meta")
