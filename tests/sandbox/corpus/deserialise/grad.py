# tries: a tensor that needs a gradient, with a hook that raises
# stopped by: decoder
# expect: returned raised unsupported
# proof: malformed
# control: status

import torch


def _hook(gradient):
    raise RuntimeError("hook")


def softmax(x, axis=-1):
    tensor = torch.zeros(3, requires_grad=True)
    tensor.register_hook(_hook)
    return tensor * 2
