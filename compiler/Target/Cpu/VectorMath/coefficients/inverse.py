"""Constants of the inverse trigonometric functions."""

import mpmath as mp

from minimax import Fit, round_to


def odd_tail(function, series):
    """(function(r) - r) / r^3 in u = r^2; `series` are its first two terms."""

    def tail(u):
        if u < mp.mpf(10) ** -20:
            return series[0] + series[1] * u
        r = mp.sqrt(u)
        return (function(r) - r) / r**3

    return tail


def in_two(value, bits):
    high = round_to(value, bits)
    return [high, round_to(value - high, bits)]


def constants():
    third, tan_eighth = mp.mpf(1) / 3, mp.sqrt(2) - 1  # tan(pi/8)
    for name, bits, arctan, arcsin in (("f32", 24, 5, 5), ("f64", 53, 12, 12)):
        yield f"quarter_pi_{name}", "pi/4 in two parts", in_two(mp.pi / 4, bits)
        for function, title, series, edge, count in (
            (mp.atan, "Atan", (-third, mp.mpf(1) / 5), (tan_eighth * mp.mpf("1.0001")) ** 2, arctan),
            (mp.asin, "Asin", (third / 2, mp.mpf(3) / 40), mp.mpf(1) / 4, arcsin),
        ):
            fit = Fit(odd_tail(function, series), 0, edge, lambda u: u * mp.sqrt(u) / function(mp.sqrt(u)) if u else mp.mpf(0))
            terms, error = fit.rounded(list(range(count)), bits)
            yield (
                f"{title.lower()}_tail_{name}",
                f"({title.lower()}(r) - r) / r^3 in r^2; relative error of {title.lower()}(r) "
                f"2^{mp.nstr(mp.log(error, 2), 4)}",
                list(terms.values()),
            )
