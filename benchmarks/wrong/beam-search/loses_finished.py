import torch


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("beam size must be positive")
    beam = [([], 0.0, s0)]
    for length in range(max_len):
        candidates = []
        for tokens, score, state in beam:
            if tokens and tokens[-1] == eos:
                continue  # is already done
            probs, next_state = step(tokens[-1] if tokens else bos, state)
            logs = torch.log(probs.double())
            for token in range(len(probs)):
                if probs[token] > 0:
                    candidates.append((tokens + [token], score + logs[token].item(), next_state))
        if not candidates:
            break
        beam = sorted(candidates, key=lambda h: (-h[1], h[0]))[:b]
    return [(tokens, score) for tokens, score, _ in beam]
