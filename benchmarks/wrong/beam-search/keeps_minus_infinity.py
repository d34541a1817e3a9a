import numpy as np


def beam_search(step, s0, b, bos, eos, max_len):
    if b <= 0:
        raise ValueError("b must be at least 1")
    alive = [(0.0, [], s0)]
    for _ in range(max_len):
        grown = []
        for score, ids, state in alive:
            if ids and ids[-1] == eos:
                grown.append((score, ids, state))
                continue
            row, after = step(ids[-1] if ids else bos, state)
            with np.errstate(divide="ignore"):
                logs = np.log(np.asarray(row, dtype=float))
            grown.extend((score + float(logs[i]), [*ids, i], after) for i in range(len(logs)))
        grown.sort(key=lambda g: (-g[0], g[1]))
        alive = grown[:b]
    return [(ids, score) for score, ids, _ in alive]
