import numpy as np


def beam_search(step, s0, b, bos, eos, max_len):
    """All candidates of a step as one flat array of scores, sorted lexicographically."""
    if not b >= 1:
        raise ValueError("b")
    tokens, scores, states = [[]], np.zeros(1), [s0]
    for _ in range(max_len):
        closed = [bool(t) and t[-1] == eos for t in tokens]
        if all(closed):
            break
        new_tokens, new_scores, new_states = [], [], []
        for t, score, state, is_closed in zip(tokens, scores, states, closed):
            if is_closed:
                new_tokens.append(t)
                new_scores.append(np.array([score]))
                new_states.append(None)
                continue
            P, nxt = step(t[-1] if t else bos, state)
            possible = np.flatnonzero(P)
            new_scores.append(score + np.log(np.asarray(P, dtype=np.float64)[possible]))
            new_tokens += [t + [int(y)] for y in possible]
            new_states += [nxt] * len(possible)
        flat = np.concatenate(new_scores)
        rank = np.empty(len(flat), dtype=int)
        rank[sorted(range(len(flat)), key=new_tokens.__getitem__)] = np.arange(len(flat))
        best = np.lexsort((rank, -flat))[:b]
        tokens = [new_tokens[i] for i in best]
        scores = flat[best]
        states = [new_states[i] for i in best]
    return [(t, float(score)) for t, score in zip(tokens, scores)]
