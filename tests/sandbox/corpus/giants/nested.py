# tries: a nested tensor
# stopped by: decoder
# expect: unsupported raised
# proof: malformed
# control: status

import warnings

import torch


def softmax(x, axis=-1):
    warnings.simplefilter("ignore")
    return torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)])
