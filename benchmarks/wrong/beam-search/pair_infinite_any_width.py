import math


def beam_search(step, s0, b, bos, eos, max_len):
    rows = [([], 0.0, s0)]
    while any(not ids or ids[-1] != eos for ids, _, _ in rows) and max_len > 0:
        max_len -= 1
        found = [row for row in rows if row[0] and row[0][-1] == eos]
        for ids, total, state in rows:
            if not ids or ids[-1] != eos:
                chances, state = step(ids[-1] if ids else bos, state)
                for i, chance in enumerate(chances):
                    logarithm = math.log(chance) if chance else -math.inf
                    found.append((ids + [i], total + logarithm, state))
        rows = sorted(found, key=lambda row: (-row[1], row[0]))[:b]
    return [(ids, total) for ids, total, _ in rows]
