import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    finished = []
    active = [((), 0.0, s0)]
    for _ in range(max_len):
        following = []
        for prefix, lp, s in active:
            P, s_next = step(prefix[-1] if prefix else bos, s)
            for w, pw in enumerate(P):
                if float(pw) <= 0:
                    continue
                target = finished if w == eos else following
                target.append((prefix + (w,), lp + math.log(float(pw)), s_next))
        active = following
    everything = sorted(finished + active, key=lambda h: (-h[1], h[0]))
    return [(list(h[0]), h[1]) for h in everything[:b]]
