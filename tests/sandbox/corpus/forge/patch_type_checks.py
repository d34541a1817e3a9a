# tries: replace the builtins that type checks in the reply writer rely on
# stopped by: decoder fork
# expect: returned protocol_violation crashed unsupported raised too_large timed_out
# proof: malformed
# control: status
# wall: 3

import builtins

import numpy as np


def softmax(x, axis=-1):
    builtins.isinstance = lambda *args: True
    builtins.len = lambda thing: 1
    builtins.getattr = lambda *args: "float64"
    builtins.type = lambda *args: float
    return {"a": np.zeros(3), "b": object()}
