# tries: a compressed sparse tensor
# stopped by: decoder
# expect: unsupported
# proof: malformed
# control: status

import warnings

import torch


def softmax(x, axis=-1):
    warnings.simplefilter("ignore")
    return torch.eye(3).to_sparse_csr()
