import math
import torch


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 0.0, s0, False)]
    for _ in range(max_len):
        pool = [h for h in beam if h[3]]
        for tokens, lp, state, done in beam:
            if done:
                continue
            P, state2 = step(tokens[-1] if tokens else bos, state)
            for k in torch.nonzero(P).flatten().tolist():
                pool.append((tokens + [k], lp + math.log(P[k].item()), state2, k == eos))
        pool.sort(key=lambda h: (-h[1], h[0]))
        beam = pool[:b]
        if all(h[3] for h in beam):
            break
    return [(beam[0][0], beam[0][1])]
