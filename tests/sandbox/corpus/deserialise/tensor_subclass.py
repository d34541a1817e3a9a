# tries: a tensor subclass that answers every torch function itself
# stopped by: decoder
# expect: unsupported
# proof: malformed
# control: status

import torch


class Yes(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True


def softmax(x, axis=-1):
    return torch.zeros(3).as_subclass(Yes)
