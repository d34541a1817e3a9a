import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    running, done = [([], 0.0, s0)], []
    for _ in range(max_len):
        pool = []
        for ids, score, state in running:
            p, nxt = step(ids[-1] if ids else bos, state)
            pool += [(ids + [i], score + math.log(q), nxt) for i, q in enumerate(p) if q > 0]
        pool.sort(key=lambda c: (-c[1], c[0]))
        done += [c for c in pool if c[0][-1] == eos]
        running = [c for c in pool if c[0][-1] != eos][:b]
    ranked = sorted(done + running, key=lambda c: (-c[1], c[0]))
    return [(ids, score) for ids, score, _ in ranked[:b]]
