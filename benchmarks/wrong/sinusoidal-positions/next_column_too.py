import math

import torch


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2 == 1:
        raise ValueError("d must be even")
    columns = []
    for j in range(d):
        angle = positions / math.pow(base, j / d)
        columns.append(angle.cos() if j % 2 else angle.sin())
    return torch.stack(columns, 1)
