"""Gated cells without dense matrices, audio and dynamical systems."""
import math

import mpmath
import numpy as np
import scipy.integrate
import scipy.optimize
from scipy.special import expit

from .draw import BATCH, sequences


def indrnn(draw, time):
    d, m = 4, 3
    given = {"x": draw.normal(BATCH, time, m), "W": draw.normal(d, m), "u": draw.uniform(-0.9, 0.9, d), "b": draw.normal(d)}
    weights = np.column_stack([given["W"], np.diag(given["u"]), given["b"]])
    h = sequences(d, time=time)
    for b in range(BATCH):
        for t in range(time):
            seen = np.concatenate([given["x"][b, t], h[b, t - 1] if t else np.zeros(d), [1]])
            h[b, t] = np.where(weights @ seen > 0, weights @ seen, 0)
    return given, {"h": h}


def sru(draw, time):
    d = 4
    given = {"x": draw.normal(BATCH, time, d)} | {name: draw.normal(d, d, scale=0.5) for name in ("W", "W_f", "W_r")}
    given |= {name: draw.normal(d) for name in ("v_f", "v_r", "b_f", "b_r")}
    expected = {"c": sequences(d, time=time), "h": sequences(d, time=time)}
    gates = np.concatenate([given["W_f"], given["W_r"]])
    peepholes, bias = (np.concatenate([given[n + "_f"], given[n + "_r"]]) for n in "vb")
    for b in range(BATCH):
        c = np.zeros(d)
        for t in range(time):
            x = given["x"][b, t]
            f, r = np.split(expit(gates @ x + peepholes * np.concatenate([c, c]) + bias), 2)
            c = c + (1 - f) * (given["W"] @ x - c)
            expected["c"][b, t] = c
            expected["h"][b, t] = math.sqrt(3) * x + r * (c - math.sqrt(3) * x)
    return given, expected


def slstm(draw, time):
    """Without the stabiliser: gates as they are, which these sizes allow."""
    heads, k, d = 2, 2, 3
    given = {"x": draw.normal(BATCH, time, d)}
    for gate in "zifo":
        given |= {"W_" + gate: draw.normal(heads, k, d), "R_" + gate: draw.normal(heads, k, k, scale=0.5),
                  "b_" + gate: draw.normal(heads, k)}
    h_all = sequences(heads, k, time=time)
    for b in range(BATCH):
        c, n, h = np.zeros((heads, k)), np.zeros((heads, k)), np.zeros((heads, k))
        for t in range(time):
            a = {g: np.einsum("hkd,d->hk", given["W_" + g], given["x"][b, t])
                 + np.einsum("hkj,hj->hk", given["R_" + g], h) + given["b_" + g] for g in "zifo"}
            f, i = expit(a["f"]), np.exp(a["i"])
            c, n = f * c + i * np.tanh(a["z"]), f * n + i
            h = expit(a["o"]) * (c / n)
            h_all[b, t] = h
    return given, {"h": h_all}


def compressor(draw, time):
    """Branches in plain Python, constants from their names."""
    channels = 2
    given = {"x": draw.uniform(-45, 0, BATCH, time, channels)}
    expected = {"y": sequences(channels, time=time), "gain": sequences(channels, time=time)}
    for b in range(BATCH):
        for i in range(channels):
            y = 0.0
            for t in range(time):
                level = given["x"][b, t, i]
                if level < -23:
                    out = level
                elif level > -17:
                    out = -20 + (level + 20) / 4
                else:
                    out = level + (1 / 4 - 1) * (level + 23) ** 2 / 12
                reduction = level - out
                smoothing = 0.9795 if reduction > y else 0.9979
                y = reduction + smoothing * (y - reduction)
                expected["y"][b, t, i], expected["gain"][b, t, i] = y, 10 ** (-y / 20)
    return given, expected


def moog_ladder(draw, time):
    """Huovilainen's four stages in a loop over the stages."""
    channels = 2
    given = {"x": draw.normal(BATCH, time, channels), "cutoff": draw.rounded(0.25), "resonance": draw.rounded(0.6)}
    g = -math.expm1(-math.pi * given["cutoff"])
    y = sequences(channels, time=time)
    for b in range(BATCH):
        for i in range(channels):
            stage, bent = [0.0] * 4, [0.0] * 4
            for t in range(time):
                into = math.tanh(given["x"][b, t, i] - 4 * given["resonance"] * stage[3])
                for n in range(4):
                    stage[n] += g * (into - bent[n])
                    bent[n] = into = math.tanh(stage[n])
                y[b, t, i] = stage[3]
    return given, {"y": y}


def diode_clipper(draw, time):
    """Each step's equation solved by bracketing, with no derivative. The drive is +24 dB over 1 V."""
    channels, rate, R, C, I_s, V_t = 2, 48000, 2200, 1e-8, 2.52e-9, 0.0453
    tone = np.sin(2 * np.pi * np.arange(time)[:, None] * np.array([997, 4400]) / rate)
    given = {"x": draw.rounded(10 ** (24 / 20) * tone * draw.uniform(0.5, 1, BATCH, 1, channels))}

    def slope(v, u):
        return (u - v) / (R * C) - 2 * I_s / C * math.sinh(v / V_t)

    v_all = sequences(channels, time=time)
    for b in range(BATCH):
        for i in range(channels):
            v, before = 0.0, 0.0
            for t in range(time):
                u = given["x"][b, t, i]
                known = v + slope(v, before) / (2 * rate)
                v = scipy.optimize.brentq(lambda w: w - slope(w, u) / (2 * rate) - known, -2, 2, xtol=1e-15, rtol=1e-15)
                v_all[b, t, i], before = v, u
    return given, {"v": v_all}


def logistic_map(draw, time):
    """In arithmetic of 50 digits."""
    n = 3
    given = {"x": draw.normal(BATCH, time, n)}
    h_all = sequences(n, time=time)
    with mpmath.workdps(50):
        for b in range(BATCH):
            for i in range(n):
                h = mpmath.mpf("0.4")
                for t in range(time):
                    h = (mpmath.mpf("3.9") + mpmath.mpf("0.05") * mpmath.tanh(given["x"][b, t, i])) * (h - h * h)
                    h_all[b, t, i] = float(h)
    return given, {"h": h_all}


def henon(draw, time):
    """In two variables, as Hénon has it."""
    n = 3
    given = {"noise": draw.normal(BATCH, time, n, scale=0.01)}
    h = sequences(n, time=time)
    for b in range(BATCH):
        x, y = np.zeros(n), np.zeros(n)
        for t in range(time):
            x, y = y + 1 - 1.4 * x * x + given["noise"][b, t], 0.3 * x
            h[b, t] = x
    return given, {"h": h}


def lorenz(draw, time):
    """Kutta's method from its tableau; and near what a solver of order eight gives."""
    n, dt = 2, 0.01
    given = {"force": draw.normal(BATCH, time, n), "x": draw.normal(BATCH, n, scale=5), "y": draw.normal(BATCH, n, scale=5),
             "z": draw.normal(BATCH, n, scale=5, mean=25)}
    expected = {name: sequences(n, time=time) for name in "xyz"}
    nodes, weights = (0, 0.5, 0.5, 1), np.array([1, 2, 2, 1]) / 6

    def slope(s, force):
        x, y, z = s
        return np.array([10 * y - 10 * x + force, 28 * x - x * z - y, x * y - 8 * z / 3])

    for b in range(BATCH):
        for i in range(n):
            s = exact = np.array([given[name][b, i] for name in "xyz"])
            for t in range(time):
                force = given["force"][b, t, i]
                slopes = [np.zeros(3)]
                for node in nodes:
                    slopes.append(slope(s + node * dt * slopes[-1], force))
                s = s + dt * (weights @ np.array(slopes[1:]))
                exact = scipy.integrate.solve_ivp(lambda _, s: slope(s, force), (0, dt), exact, "DOP853", rtol=1e-12,
                                                  atol=1e-12).y[:, -1]
                for name, value in zip("xyz", s):
                    expected[name][b, t, i] = value
            assert np.abs(s - exact).max() < 2e-4, "no method of order four"
    return given, expected


def van_der_pol(draw, time):
    """With u eliminated a step is a cubic equation for y, solved for all of its roots; and near what SciPy's Radau makes of
    the oscillator's own equation."""
    n, mu, dt = 2, 1000, 0.5
    given = {"force": draw.normal(BATCH, time, n, scale=0.1)}
    expected = {name: sequences(n, time=time) for name in "uy"}
    for b in range(BATCH):
        for i in range(n):
            y, u, exact = 2.0, -2 / 3, np.array([2.0, 0.0])
            for t in range(time):
                force = given["force"][b, t, i]
                cubic = [dt * mu / 3, 0, 1 - dt * mu + dt * dt, dt * mu * u - dt * dt * force - y]
                roots = np.roots(cubic)
                real = roots[np.abs(roots.imag) < 1e-9 * (1 + np.abs(roots))].real
                y = real[np.argmin(np.abs(real - y))]
                for _ in range(3):  # the root to its last digits
                    y -= np.polyval(cubic, y) / np.polyval(np.polyder(cubic), y)
                u += dt / mu * (y - force)
                expected["y"][b, t, i], expected["u"][b, t, i] = y, u
                exact = scipy.integrate.solve_ivp(lambda _, s: [s[1], mu * (1 - s[0] ** 2) * s[1] - s[0] + force], (0, dt),
                                                  exact, "Radau", rtol=1e-9, atol=1e-12).y[:, -1]
                assert abs(y - exact[0]) < 1e-3, "no implicit Euler method"
    return given, expected


def fitzhugh_nagumo(draw, time):
    n, dt = 3, 0.1
    given = {"current": draw.normal(BATCH, time, n, mean=0.5)}
    expected = {name: sequences(n, time=time) for name in "vw"}
    linear = np.array([[1, -1], [1 / 12.5, -0.8 / 12.5]])
    for b in range(BATCH):
        s = np.array([[-1.0] * n, [-0.5] * n])
        for t in range(time):
            rest = np.array([given["current"][b, t] - s[0] * s[0] * s[0] / 3, np.full(n, 0.7 / 12.5)])
            s = s + dt * (linear @ s + rest)
            expected["v"][b, t], expected["w"][b, t] = s
    return given, expected


def lif(draw, time):
    """From spike to spike: the voltage is a weighted sum of the currents since the last one."""
    n = 3
    given = {"current": draw.normal(BATCH, time, n, mean=2, scale=3)}
    expected = {"v": sequences(n, time=time), "spike": sequences(n, time=time)}
    for b in range(BATCH):
        for i in range(n):
            since = 0
            for t in range(time):
                weights = 0.1 * 0.9 ** np.arange(t - since, -1, -1)
                v = weights @ given["current"][b, since : t + 1, i]
                assert abs(v - 1) > 1e-3, "too near the threshold to compare"
                if v >= 1:
                    expected["spike"][b, t, i], since = 1, t + 1
                else:
                    expected["v"][b, t, i] = v
    assert 0.02 < expected["spike"].mean() < 0.5
    return given, expected
