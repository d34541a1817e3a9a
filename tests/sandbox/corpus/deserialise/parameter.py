# tries: a parameter, which is a tensor subclass too
# stopped by: decoder
# expect: unsupported returned
# proof: malformed
# control: status

import torch


def softmax(x, axis=-1):
    return torch.nn.Parameter(torch.zeros(3))
