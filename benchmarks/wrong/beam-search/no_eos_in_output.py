import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        if all(seq and seq[-1] == eos for seq, _, _ in beam):
            break
        pool = []
        for seq, lp, state in beam:
            if seq and seq[-1] == eos:
                pool.append((seq, lp, state))
                continue
            P, state2 = step(seq[-1] if seq else bos, state)
            for j, pj in enumerate(P):
                if pj > 0:
                    pool.append((seq + [j], lp + math.log(pj), state2))
        pool.sort(key=lambda h: (-h[1], h[0]))
        beam = pool[:b]
    # strip the end marker
    return [(seq[:-1] if seq[-1] == eos else seq, lp) for seq, lp, _ in beam]
