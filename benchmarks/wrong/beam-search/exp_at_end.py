import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")

    def finished(h):
        return bool(h[0]) and h[0][-1] == eos

    beam = [([], 0.0, s0)]
    t = 0
    while t < max_len and not all(map(finished, beam)):
        pool = list(filter(finished, beam))
        for h in beam:
            if not finished(h):
                P, s = step(h[0][-1] if h[0] else bos, h[2])
                pool.extend((h[0] + [k], h[1] + math.log(x), s) for k, x in enumerate(P) if x > 0)
        beam = sorted(pool, key=lambda h: (-h[1], h[0]))[:b]
        t += 1
    return [(h[0], math.exp(h[1])) for h in beam]
