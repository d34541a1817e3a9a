# tries: a complex tensor whose conjugation is only noted, not done
# stopped by: decoder
# expect: returned unsupported
# proof: exact
# value: 1-2j
# control: status

import torch


def softmax(x, axis=-1):
    return torch.tensor([1 + 2j], dtype=torch.complex128).conj()
