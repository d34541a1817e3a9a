from math import log


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b must be at least 1")

    def ended(hypothesis):
        return hypothesis[0][-1:] == (eos,)

    def expand(hypothesis):
        tokens, logprob, state = hypothesis
        if ended(hypothesis):
            return [hypothesis]
        P, state = step(tokens[-1] if tokens else bos, state)
        return [(tokens + (y,), logprob + log(p), state) for y, p in enumerate(P) if p > 0]

    def search(beam, left):
        if left == 0 or all(map(ended, beam)):
            return beam
        candidates = [child for hypothesis in beam for child in expand(hypothesis)]
        candidates.sort(key=lambda c: c[0])
        candidates.sort(key=lambda c: c[1], reverse=True)  # stable: ties stay in the order of the tokens
        return search(candidates[:b], left - 1)

    return [(list(tokens), logprob) for tokens, logprob, _ in search([((), 0.0, s0)], max_len)]
