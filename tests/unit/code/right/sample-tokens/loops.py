import math


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if not temperature > 0:
        raise ValueError("temperature")
    if top_k is not None and top_k <= 0:
        raise ValueError("top_k")
    if top_p is not None and (top_p <= 0 or top_p > 1):
        raise ValueError("top_p")
    scores = [float(x) / temperature for x in logits]
    top = max(scores)
    chances = {token: math.exp(score - top) for token, score in enumerate(scores)}
    ranked = sorted(chances, key=lambda token: (-scores[token], token))
    if top_k is not None:
        ranked = ranked[:top_k]
    if top_p is not None:
        total, reached, kept = math.fsum(chances[t] for t in ranked), 0.0, []
        for token in ranked:
            kept.append(token)
            reached += chances[token] / total
            if reached >= top_p:
                break
        ranked = kept
    total = math.fsum(chances[t] for t in ranked)
    tokens = []
    for number in u:
        reached = 0.0
        for token in sorted(ranked):
            reached += chances[token] / total
            if number < reached:
                break
        tokens.append(token)
    return tokens
