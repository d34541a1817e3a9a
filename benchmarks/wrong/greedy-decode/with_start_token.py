import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    sequence = [bos]
    state = s0
    for _ in range(max_len):
        probabilities, state = step(sequence[-1], state)
        token = int(np.argmax(probabilities))
        sequence.append(token)
        if token == eos:
            break
    return sequence
