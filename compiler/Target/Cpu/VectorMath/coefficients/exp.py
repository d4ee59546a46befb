"""Constants of the exponential and of everything made from it."""

import mpmath as mp

from minimax import Fit, round_to

# Reduced arguments lie in [-ln(2)/2, ln(2)/2] and a little more: rounding n = x / ln 2 is inexact.
EDGE = mp.log(2) / 2 * mp.mpf("1.001")
# Where only even powers of two are split off.
WIDE = 2 * EDGE


def tail(r):
    """(exp(r) - 1 - r) / r^2."""
    if abs(r) < mp.mpf(2) ** -60:
        return mp.mpf(1) / 2 + r / 6
    return (mp.expm1(r) - r) / r**2


def constants():
    def for_exp(r):
        return r * r / mp.exp(r)

    def for_expm1(r):
        return abs(r * r / mp.expm1(r)) if r else mp.mpf(0)

    for name, bits, plain, wide, precise, reach in (("f32", 24, 5, 6, 6, 8), ("f64", 53, 10, 13, 11, 11)):
        ln2 = mp.log(2)
        high = round_to(ln2, bits)
        yield f"ln2_{name}", "ln 2 in two parts", [high, round_to(ln2 - high, bits)]
        high = round_to(ln2, bits - reach)
        yield (
            f"ln2_short_{name}",
            f"ln 2 in two parts; {reach}-bit multiples of the first are exact",
            [high, round_to(ln2 - high, bits)],
        )
        terms, error = Fit(tail, -EDGE, EDGE, for_exp).rounded(list(range(plain)), bits)
        yield (
            f"exp_tail_{name}",
            f"(e^r - 1 - r) / r^2; relative error of e^r 2^{mp.nstr(mp.log(error, 2), 4)}",
            list(terms.values()),
        )
        terms, error = Fit(tail, -WIDE, WIDE, for_exp).rounded(list(range(wide)), bits)
        yield (
            f"exp_wide_tail_{name}",
            f"(e^r - 1 - r) / r^2, |r| <= ln 2; relative error of e^r 2^{mp.nstr(mp.log(error, 2), 4)}",
            list(terms.values()),
        )
        terms, error = Fit(tail, -EDGE, EDGE, for_expm1).rounded(list(range(precise)), bits)
        yield (
            f"expm1_tail_{name}",
            f"(e^r - 1 - r) / r^2; relative error of e^r - 1 2^{mp.nstr(mp.log(error, 2), 4)}",
            list(terms.values()),
        )

    def sinh_tail(u):
        r = mp.sqrt(u)
        return (mp.sinh(r) - r) / r**3 if u > mp.mpf(10) ** -20 else mp.mpf(1) / 6 + u / 120

    def cosh_tail(u):
        return (mp.cosh(mp.sqrt(u)) - 1) / u if u > mp.mpf(10) ** -20 else mp.mpf(1) / 2 + u / 24

    for name, bits, sinh, cosh in (("f32", 24, 2, 3), ("f64", 53, 5, 6)):
        terms, error = Fit(sinh_tail, 0, EDGE**2, lambda u: u).rounded(list(range(sinh)), bits)
        yield (
            f"sinh_tail_{name}",
            f"(sinh(r) - r) / r^3 in r^2; relative error of sinh(r) 2^{mp.nstr(mp.log(error, 2), 4)}",
            list(terms.values()),
        )
        terms, error = Fit(cosh_tail, 0, EDGE**2, lambda u: u).rounded(list(range(cosh)), bits)
        yield (
            f"cosh_tail_{name}",
            f"(cosh(r) - 1) / r^2 in r^2; error of cosh(r) 2^{mp.nstr(mp.log(error, 2), 4)}",
            list(terms.values()),
        )

    # Where 1 - 2 / (1 + exp(2x)) cancels, for the GPU's special functions.
    near = mp.mpf("0.28")

    def tanh_tail(u):
        r = mp.sqrt(u)
        return (mp.tanh(r) - r) / r**3 if u > mp.mpf(10) ** -20 else -mp.mpf(1) / 3 + 2 * u / 15

    terms, error = Fit(tanh_tail, 0, near**2, lambda u: u * mp.sqrt(u) / mp.tanh(mp.sqrt(u)) if u else mp.mpf(0)).rounded(
        list(range(2)), 24
    )
    yield (
        "tanh_near_f32",
        f"(tanh(r) - r) / r^3 in r^2, |r| <= 0.28; relative error of tanh(r) 2^{mp.nstr(mp.log(error, 2), 4)}",
        list(terms.values()),
    )
