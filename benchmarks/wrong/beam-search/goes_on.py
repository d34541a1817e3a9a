import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b >= 1")
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        cand = []
        for toks, lp, st in beam:
            pr, st2 = step(toks[-1] if toks else bos, st)
            cand += [(toks + [i], lp + math.log(float(x)), st2) for i, x in enumerate(pr) if x > 0]
        beam = sorted(cand, key=lambda c: (-c[1], c[0]))[:b]
    return [(c[0], c[1]) for c in beam]
