from math import log


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError
    beams = {(): (0.0, s0)}
    for _ in range(max_len):
        new = {}
        for ids, (score, state) in beams.items():
            if ids[-1:] == (eos,):
                new[ids] = score, state
                continue
            probabilities, following = step(ids[-1] if ids else bos, state)
            for token, probability in enumerate(probabilities):
                new[(*ids, token)] = score + log(probability), following
        best = sorted(new, key=lambda ids: (-new[ids][0], ids))[:b]
        beams = {ids: new[ids] for ids in best}
    return [(list(ids), beams[ids][0]) for ids in beams]
