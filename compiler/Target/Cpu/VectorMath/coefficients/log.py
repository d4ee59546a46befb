"""Constants of the logarithm."""

import mpmath as mp

from minimax import Fit

# The mantissa is split off so that it lies in [sqrt(1/2), sqrt(2)).
LOW, HIGH = mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(2) - 1


def tail(f):
    """(log(1 + f) - f) / f^2."""
    if abs(f) < mp.mpf(2) ** -60:
        return -mp.mpf(1) / 2 + f / 3
    return (mp.log1p(f) - f) / f**2


def constants():
    def relative(f):
        return abs(f * f / mp.log1p(f)) if f else mp.mpf(0)

    for name, bits, count in (("F32", 24, 9), ("F64", 53, 21)):
        fixed = {0: -mp.mpf(1) / 2}
        terms, error = Fit(tail, LOW, HIGH, relative).rounded(list(range(1, count)), bits, fixed)
        yield (
            f"kLogTail{name}",
            "(log(1 + f) - f + f^2 / 2) / f^3; "
            f"relative error of log(1 + f) 2^{mp.nstr(mp.log(error, 2), 4)}",
            [terms[e] for e in range(1, count)],
        )
