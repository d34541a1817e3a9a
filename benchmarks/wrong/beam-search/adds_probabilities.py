import torch


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("beam width")
    beams = [(0.0, [], 0.0, s0)]
    for _ in range(max_len):
        new_beams = []
        grown = False
        for score, seq, logp, state in beams:
            if seq and seq[-1] == eos:
                new_beams.append((score, seq, logp, state))
                continue
            grown = True
            probs, nxt = step(seq[-1] if seq else bos, state)
            for tok, pr in enumerate(probs.tolist()):
                if pr == 0:
                    continue
                lp = float(torch.log(torch.tensor(pr, dtype=torch.float64)))
                new_beams.append((score + pr, [*seq, tok], logp + lp, nxt))
        if not grown:
            break
        new_beams.sort(key=lambda x: (-x[0], x[1]))
        beams = new_beams[:b]
    return [(seq, logp) for _, seq, logp, _ in beams]
