import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    generated = []
    current = bos
    for _ in range(max_len):
        probs, new_state = step(current, s0)
        current = int(np.argmax(probs))
        generated.append(current)
        if current == eos:
            break
    return generated
