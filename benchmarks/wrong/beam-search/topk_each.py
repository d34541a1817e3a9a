import math
import numpy as np


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError
    hypotheses = [([], 0.0, s0)]
    for _ in range(max_len):
        new = []
        for tokens, logprob, state in hypotheses:
            if tokens and tokens[-1] == eos:
                new.append((tokens, logprob, state))
                continue
            p, s = step(tokens[-1] if tokens else bos, state)
            p = np.asarray(p)
            top = np.argsort(-p, kind="stable")[:b]
            for t in top:
                if p[t] > 0:
                    new.append((tokens + [int(t)], logprob + math.log(p[t]), s))
        hypotheses = new
        if all(t and t[-1] == eos for t, _, _ in hypotheses):
            break
    hypotheses.sort(key=lambda h: (-h[1], h[0]))
    return [(t, l) for t, l, _ in hypotheses]
