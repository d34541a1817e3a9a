import math


def beam_search(step, s0, b, bos, eos, max_len):
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        pool = []
        open_left = False
        for seq, lp, state in beam:
            if seq and seq[-1] == eos:
                pool.append((seq, lp, state))
            else:
                open_left = True
                probs, new = step(seq[-1] if seq else bos, state)
                pool += [(seq + [v], lp + math.log(p), new) for v, p in enumerate(probs) if p > 0]
        if not open_left:
            break
        pool.sort(key=lambda h: (-h[1], h[0]))
        beam = pool[:b]
    return [(seq, lp) for seq, lp, _ in beam]
