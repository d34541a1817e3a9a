# tries: a wrapper subclass without any data behind it
# stopped by: decoder
# expect: unsupported
# proof: malformed
# control: status

import torch


class Hollow(torch.Tensor):
    @staticmethod
    def __new__(cls):
        return torch.Tensor._make_wrapper_subclass(cls, (10**9,), dtype=torch.float64)

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return torch.zeros(3)


def softmax(x, axis=-1):
    return Hollow()
