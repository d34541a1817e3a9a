# tries: change shape and storage from a thread while the encoder works
# stopped by: grader
# expect: returned raised crashed unsupported too_large protocol_violation
# proof: malformed
# control: status
# calls: 6

import threading

import torch


def _wobble(tensor, gate):
    while not gate.is_set():
        try:
            tensor.resize_(100_000)
            tensor.resize_(10)
        except RuntimeError:
            continue


def softmax(x, axis=-1):
    tensor = torch.zeros(100_000, dtype=torch.float64)
    gate = threading.Event()
    threading.Thread(target=_wobble, args=(tensor, gate), daemon=True).start()
    threading.Timer(0.2, gate.set).start()
    return tensor
