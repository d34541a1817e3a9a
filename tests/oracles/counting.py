"""Numbers that count how often they are multiplied, for the formulas of ``reference.counts``."""

from __future__ import annotations


class Counted:
    """A number; multiplying two of them adds one to the shared count."""

    multiplications = 0

    def __init__(self, value: float = 1.0) -> None:
        self.value = value

    def __mul__(self, other: Counted) -> Counted:
        Counted.multiplications += 1
        return Counted(self.value * other.value)

    def __add__(self, other: Counted) -> Counted:
        return Counted(self.value + other.value)


def matrix(rows: int, cols: int) -> list[list[Counted]]:
    return [[Counted() for _ in range(cols)] for _ in range(rows)]


def product(A: list[list[Counted]], B: list[list[Counted]]) -> list[list[Counted]]:
    """A B, by the definition."""
    result = []
    for row in A:
        out = []
        for j in range(len(B[0])):
            total = Counted(0.0)
            for a, b_row in zip(row, B, strict=True):
                total = total + a * b_row[j]
            out.append(total)
        result.append(out)
    return result


def transposed(A: list[list[Counted]]) -> list[list[Counted]]:
    return [[row[j] for row in A] for j in range(len(A[0]))]


class Watch:
    """``with Watch() as watch: …`` then ``watch.count``."""

    def __enter__(self) -> Watch:
        Counted.multiplications = 0
        return self

    def __exit__(self, *_: object) -> None:
        self.count = Counted.multiplications
