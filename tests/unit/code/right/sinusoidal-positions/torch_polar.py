import torch


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2:
        raise ValueError("d must be a positive even number")
    frequency = torch.pow(
        torch.tensor(base, dtype=torch.float64),
        -torch.arange(d // 2) * 2 / torch.tensor(d, dtype=torch.float64),
    )
    angle = torch.outer(positions.double(), frequency)
    circle = torch.view_as_real(torch.polar(torch.ones_like(angle), angle))
    return circle.flip(-1).reshape(len(positions), d).to(positions.dtype)
