# tries: shrink a tensor's storage behind its back
# stopped by: fork
# expect: returned raised crashed unsupported too_large
# proof: malformed
# control: status

import torch


def softmax(x, axis=-1):
    tensor = torch.zeros(1000, dtype=torch.float64)
    tensor.untyped_storage().resize_(8)
    return tensor
