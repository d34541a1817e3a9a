import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    running = [([bos], 0.0, s0)]
    ended = []
    for _ in range(max_len):
        pool = [(seq, lp, None) for seq, lp in ended]
        for seq, lp, state in running:
            P, following = step(seq[-1], state)
            for token, p in enumerate(P):
                if p > 0:
                    pool.append((seq + [token], lp + math.log(p), following))
        pool.sort(key=lambda h: (-h[1], h[0]))
        pool = pool[:b]
        ended = [(h[0], h[1]) for h in pool if h[0][-1] == eos]
        running = [h for h in pool if h[0][-1] != eos]
        if not running:
            break
    everything = ended + [(seq, lp) for seq, lp, _ in running]
    return sorted(everything, key=lambda h: (-h[1], h[0]))
