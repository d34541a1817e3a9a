import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        pool = []
        for seq, lp, state in beam:
            if seq and seq[-1] == eos:
                pool.append((seq, lp, state))
                continue
            P, new = step(seq[-1] if seq else bos, state)
            for i, p in enumerate(P):
                if p > 0:
                    pool.append((seq + [i], lp + math.log2(p), new))
        pool.sort(key=lambda h: (-h[1] / len(h[0]), h[0]))
        beam = pool[:b]
        if all(seq[-1] == eos for seq, _, _ in beam):
            break
    return [(seq, lp) for seq, lp, _ in beam]
