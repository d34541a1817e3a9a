# tries: a fake tensor
# stopped by: decoder
# expect: unsupported raised
# proof: malformed
# control: status

import torch
from torch._subclasses.fake_tensor import FakeTensorMode


def softmax(x, axis=-1):
    with FakeTensorMode():
        return torch.empty(10**12)
