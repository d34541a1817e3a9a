import torch


def sinusoidal_positions(positions, d, base=10000.0):
    if d <= 0 or d % 2 > 0:
        raise ValueError("d")
    columns = []
    for i in range(d // 2):
        angle = positions / base ** (2 * i / d)
        columns += [torch.sin(angle), torch.cos(angle)]
    return torch.stack(columns, dim=1)
