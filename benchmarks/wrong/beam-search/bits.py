import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [(0.0, [], s0)]
    for _ in range(max_len):
        pool = []
        for neg, toks, s in beam:
            if toks and toks[-1] == eos:
                pool.append((neg, toks, s))
            else:
                p, s_new = step(toks[-1] if toks else bos, s)
                for i in range(len(p)):
                    if p[i] > 0:
                        pool.append((neg - math.log2(p[i]), toks + [i], s_new))
        beam = sorted(pool, key=lambda x: x[:2])[:b]
        if all(x[1][-1] == eos for x in beam):
            break
    return [(toks, -neg) for neg, toks, _ in beam]
