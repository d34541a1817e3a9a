# tries: walk sys.modules and replace every function of the reply writer
# stopped by: fork grader
# expect: returned protocol_violation crashed unsupported raised too_large timed_out
# proof: malformed
# control: status
# wall: 3

import sys
import types

import numpy as np


def softmax(x, axis=-1):
    for name, module in list(sys.modules.items()):
        if not any(word in name for word in ("wire", "leaves", "child", "zygote", "__main__")):
            continue
        for key, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType):
                setattr(module, key, lambda *args, **kwargs: b"\xff" * 64)
            elif isinstance(value, int) and not isinstance(value, bool):
                setattr(module, key, 2**62)
    return np.zeros(2**22)
