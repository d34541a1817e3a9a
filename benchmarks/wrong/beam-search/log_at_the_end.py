import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 1.0, s0)]
    for _ in range(max_len):
        if all(seq and seq[-1] == eos for seq, _, _ in beam):
            break
        nxt = []
        for seq, prob, state in beam:
            if seq and seq[-1] == eos:
                nxt.append((seq, prob, state))
                continue
            P, state2 = step(seq[-1] if seq else bos, state)
            for j, pj in enumerate(P):
                if pj > 0:
                    nxt.append((seq + [j], prob * float(pj), state2))
        nxt.sort(key=lambda h: (-h[1], h[0]))
        beam = nxt[:b]
    return [(seq, math.log(prob) if prob > 0 else -math.inf) for seq, prob, _ in beam]
