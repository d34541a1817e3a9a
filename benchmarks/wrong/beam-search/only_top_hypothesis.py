import math
import numpy as np


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("beam size")
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        waiting = [k for k, (tokens, _, _) in enumerate(beam) if not tokens or tokens[-1] != eos]
        if not waiting:
            break
        first = waiting[0]
        tokens, score, state = beam.pop(first)
        probs, new_state = step(tokens[-1] if tokens else bos, state)
        expanded = []
        for t, p in enumerate(np.asarray(probs)):
            if p > 0:
                expanded.append((tokens + [t], score + math.log(p), new_state))
        done = [h for h in beam if h[0][-1] == eos]
        beam = sorted(done + expanded, key=lambda h: (-h[1], h[0]))[:b]
    return [(tokens, score) for tokens, score, _ in beam]
