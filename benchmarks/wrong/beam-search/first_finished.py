import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        options = []
        for seq, lp, state in beam:
            p, nstate = step(seq[-1] if seq else bos, state)
            for tok, q in enumerate(p):
                if q > 0:
                    options.append((seq + [tok], lp + math.log(q), nstate))
        options.sort(key=lambda o: (-o[1], o[0]))
        beam = options[:b]
        if any(seq[-1] == eos for seq, _, _ in beam):
            break
    return [(seq, lp) for seq, lp, _ in beam]
