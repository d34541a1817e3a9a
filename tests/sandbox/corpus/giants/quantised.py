# tries: a quantised tensor
# stopped by: decoder
# expect: unsupported raised
# proof: malformed
# control: status

import torch


def softmax(x, axis=-1):
    return torch.quantize_per_tensor(torch.zeros(3), 0.1, 0, torch.quint8)
