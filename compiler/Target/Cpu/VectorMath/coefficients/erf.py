"""Constants of the error function."""

import mpmath as mp

from minimax import Fit


def constants():
    for name, bits, split, end, near, far in (
        ("f32", 24, mp.mpf(1), mp.mpf("4.05"), 7, 8),
        ("f64", 53, mp.mpf("1.5"), mp.mpf("6.05"), 16, 19),
    ):

        def ratio(u):
            x = mp.sqrt(u)
            return mp.erf(x) / x if u > mp.mpf(10) ** -30 else 2 / mp.sqrt(mp.pi)

        # erf(x) = x + x p(x^2): the sum rounds once, and p is an eighth of it.
        edge = (split * mp.mpf("1.0001")) ** 2
        terms, error = Fit(lambda u: ratio(u) - 1, 0, edge, lambda u: 1 / ratio(u)).rounded(
            list(range(near)), bits
        )
        yield (
            f"erf_near_{name}",
            f"erf(x) / x - 1 in x^2, |x| <= {mp.nstr(split, 3)}; relative error of erf(x) "
            f"2^{mp.nstr(mp.log(error, 2), 4)}",
            list(terms.values()),
        )

        # erf(x) = 1 - exp(-x^2 + g(x - centre)); what g is off by counts for as much as erfc(x). The
        # floor under the weight keeps the programme solvable.
        centre = mp.floor(4 * (split + end)) / 8

        def log_erfc(t):
            x = t + centre
            return mp.log(mp.erfc(x)) + x * x

        fit = Fit(log_erfc, split - centre, end - centre, lambda t: mp.erfc(t + centre) + mp.mpf(2) ** -16)
        terms, error = fit.rounded(list(range(far)), bits)
        yield f"erf_centre_{name}", "the middle of the far interval", [centre]
        yield (
            f"erf_far_{name}",
            f"log(erfc(x)) + x^2 in x - centre; error of erf(x) 2^{mp.nstr(mp.log(error, 2), 4)}",
            list(terms.values()),
        )
