# tries: a sparse tensor of 10**15 elements
# stopped by: decoder
# expect: unsupported
# proof: naive-encode
# control: naive-encode

import torch


def softmax(x, axis=-1):
    return torch.sparse_coo_tensor(torch.zeros(1, 1, dtype=torch.int64), torch.ones(1), (10**15,))
