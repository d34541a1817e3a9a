import math

import torch


def kv_cache(x, K, V, Wq, Wk, Wv):
    (d,), dk, dv = x.shape, Wq.shape[1], Wv.shape[1]
    if Wq.shape != (d, dk) or Wk.shape != (d, dk) or Wv.shape != (d, dv):
        raise ValueError("the projections don't fit the token")
    if K.shape != (len(V), dk) or V.shape != (len(K), dv):
        raise ValueError("the cache doesn't fit the projections")
    K_new, V_new = torch.cat([K, (x @ Wk)[None]]), torch.cat([V, (x @ Wv)[None]])
    weights = torch.softmax(K_new @ (x @ Wq) / math.sqrt(dk), dim=0)
    return weights.detach() @ V_new, K_new, V_new


def kv_cache_1(x, K, V, Wq, Wk, Wv):
    (d,), dk, dv = x.shape, Wq.shape[1], Wv.shape[1]
    if Wq.shape != (d, dk) or Wk.shape != (d, dk) or Wv.shape != (d, dv):
        raise ValueError("the projections don't fit the token")
    if K.shape != (len(V), dk) or V.shape != (len(K), dv):
        raise ValueError("the cache doesn't fit the projections")
    K_new, V_new = torch.cat([K.detach(), (x @ Wk)[None]]), torch.cat([V.detach(), (x @ Wv)[None]])
    weights = torch.softmax(K_new @ (x @ Wq) / math.sqrt(dk), dim=0)
    return weights @ V_new, K_new, V_new


def kv_cache_2(x, K, V, Wq, Wk, Wv):
    (d,), dk, dv = x.shape, Wq.shape[1], Wv.shape[1]
    if Wq.shape != (d, dk) or Wk.shape != (d, dk) or Wv.shape != (d, dv):
        raise ValueError("the projections don't fit the token")
    if K.shape != (len(V), dk) or V.shape != (len(K), dv):
        raise ValueError("the cache doesn't fit the projections")
    K_new, V_new = torch.cat([K, (x @ Wk)[None]]), torch.cat([V, (x @ Wv)[None]])
    weights = torch.softmax(K_new @ (x @ Wq) / math.sqrt(dk), dim=0)
    return weights @ V_new, K_new.detach(), V_new.detach()
