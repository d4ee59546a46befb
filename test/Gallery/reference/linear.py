"""Cells that are linear in their state: solved as one system over all steps, or by their closed form."""
import numpy as np
import scipy.linalg
from scipy.special import expit

from .draw import BATCH, sequences


def solve(decay, drive, start=0.0):
    """h[t] = decay[t] h[t-1] + drive[t] for arrays (batch, time, d): a bidiagonal system a channel."""
    h = np.zeros_like(drive)
    for b in range(drive.shape[0]):
        for i in range(drive.shape[2]):
            right = drive[b, :, i].copy()
            right[0] += decay[b, 0, i] * start
            bands = np.vstack([np.ones_like(right), -np.append(decay[b, 1:, i], 0)])
            h[b, :, i] = scipy.linalg.solve_banded((1, 0), bands, right)
    return h


def ema(draw, time):
    d = 3
    given = {"x": draw.normal(BATCH, time, d), "a": draw.uniform(0, 1, d)}
    decay = np.broadcast_to(given["a"], (BATCH, time, d))
    return given, {"h": solve(decay, (1 - decay) * given["x"])}


def mingru(draw, time):
    d, m = 4, 3
    given = {"x": draw.normal(BATCH, time, m), "W_z": draw.normal(d, m), "W_h": draw.normal(d, m),
             "b_z": draw.normal(d), "b_h": draw.normal(d)}
    z = expit(given["x"] @ given["W_z"].T + given["b_z"])
    return given, {"h": solve(1 - z, z * (given["x"] @ given["W_h"].T + given["b_h"]))}


def minlstm(draw, time):
    """The share of the forget gate by logarithms, as the paper's listing has it."""
    d, m = 4, 3
    given = {"x": draw.normal(BATCH, time, m)}
    for gate in "fih":
        given |= {"W_" + gate: draw.normal(d, m), "b_" + gate: draw.normal(d)}
    linear = {gate: given["x"] @ given["W_" + gate].T + given["b_" + gate] for gate in "fih"}
    difference = np.logaddexp(0, -linear["f"]) - np.logaddexp(0, -linear["i"])
    return given, {"h": solve(expit(-difference), expit(difference) * linear["h"])}


def rglru(draw, time):
    """With the decay itself, a to the power c r."""
    d, c = 4, 8
    given = {"x": draw.normal(BATCH, time, d), "W_a": draw.normal(d, d), "W_x": draw.normal(d, d), "b_a": draw.normal(d),
             "b_x": draw.normal(d), "L": draw.uniform(2, 6, d)}
    r, i = (expit(given["x"] @ given["W_" + g].T + given["b_" + g]) for g in "ax")
    a = expit(given["L"]) ** (c * r)
    return given, {"h": solve(a, np.sqrt(1 - a**2) * i * given["x"])}


def garch(draw, time):
    """The last variances as a geometric sum over all returns before."""
    series = 3
    given = {"r": draw.normal(BATCH, time, series), "omega": draw.uniform(0.05, 0.2, series),
             "alpha": draw.uniform(0.05, 0.15, series), "beta": draw.uniform(0.5, 0.8, series)}
    variance = sequences(series, time=time)
    for b in range(BATCH):
        for t in range(time):
            powers = given["beta"] ** np.arange(t + 1)[:, None]
            squares = np.vstack([np.zeros(series), given["r"][b, :t] ** 2])[::-1]
            variance[b, t] = powers[-1] * given["beta"] + (powers * (given["omega"] + given["alpha"] * squares)).sum(0)
    return given, {"variance": variance}


def lru(draw, time):
    """As the convolution that it is: sums of powers of lambda."""
    n, m, p = 3, 2, 2
    given = {"u": draw.normal(BATCH, time, m), "nu": draw.uniform(-3, -0.5, n), "theta": draw.uniform(-2, 1, n),
             "B": draw.complex(n, m), "C": draw.complex(p, n), "D": draw.normal(p, m)}
    decay, angle = np.exp(-np.exp(given["nu"])), np.exp(given["theta"])
    expected = {"s": sequences(n, time=time) + 0j, "y": sequences(p, time=time)}
    for b in range(BATCH):
        drive = (given["B"] @ given["u"][b].T).T * np.sqrt(1 - decay**2)
        for t in range(time):
            back = np.arange(t, -1, -1)[:, None]
            expected["s"][b, t] = (decay**back * (np.cos(back * angle) + 1j * np.sin(back * angle)) * drive[: t + 1]).sum(0)
            expected["y"][b, t] = (given["C"] @ expected["s"][b, t]).real + given["D"] @ given["u"][b, t]
    return given, expected


def s5(draw, time):
    """Discretised by the exponential of the whole matrix, and stepped with real pairs."""
    n, m = 3, 2
    given = {"u": draw.normal(BATCH, time, m), "log_decay": draw.normal(n, scale=0.3, mean=-1),
             "frequency": draw.uniform(0.5, 6, n), "log_step": draw.uniform(-3, -1, n), "B": draw.complex(n, m),
             "C": draw.complex(m, n), "D": draw.normal(m)}
    y = sequences(m, time=time)
    s_all = sequences(n, time=time) + 0j
    for b in range(BATCH):
        for i in range(n):
            re, im = -np.exp(given["log_decay"][i]), given["frequency"][i]
            system = np.zeros((2 + m, 2 + m))
            system[:2, :2] = [[re, -im], [im, re]]
            system[:2, 2:] = [given["B"][i].real, given["B"][i].imag]
            held = scipy.linalg.expm(system * np.exp(given["log_step"][i]))
            s = np.zeros(2)
            for t in range(time):
                s = held[:2] @ np.concatenate([s, given["u"][b, t]])
                s_all[b, t, i] = s[0] + 1j * s[1]
                y[b, t] += 2 * (given["C"][:, i].real * s[0] - given["C"][:, i].imag * s[1])
        y[b] += given["D"] * given["u"][b]
    return given, {"s": s_all, "y": y}


def selective_ssm(draw, time):
    """As attention: every output is a sum over all inputs before, weighted by decays between them."""
    d, n, r = 3, 4, 2
    given = {"x": draw.normal(BATCH, time, d), "log_A": draw.normal(d, n, scale=0.5), "W_B": draw.normal(n, d),
             "W_C": draw.normal(n, d), "down": draw.normal(r, d), "up": draw.normal(d, r),
             "b": draw.normal(d, mean=-1), "D": draw.normal(d)}
    expected = {"h": sequences(d, n, time=time), "y": sequences(d, time=time)}
    for b in range(BATCH):
        x = given["x"][b]
        delta = np.logaddexp(0, x @ given["down"].T @ given["up"].T + given["b"])
        elapsed = np.cumsum(delta, axis=0)
        into, out = x @ given["W_B"].T, x @ given["W_C"].T
        for t in range(time):
            for i in range(d):
                decays = np.exp(-np.exp(given["log_A"][i]) * (elapsed[t, i] - elapsed[: t + 1, i])[:, None])
                expected["h"][b, t, i] = ((delta[: t + 1, i] * x[: t + 1, i])[:, None] * decays * into[: t + 1]).sum(0)
                expected["y"][b, t, i] = expected["h"][b, t, i] @ out[t] + given["D"][i] * x[t, i]
    return given, expected


def mlstm(draw, time):
    """The paper's parallel form, without a stabiliser: attention with decays."""
    k, d = 4, 3
    given = {"x": draw.normal(BATCH, time, d), "w_i": draw.normal(d), "w_f": draw.normal(d), "b_i": draw.normal(),
             "b_f": draw.normal(mean=2), "b_o": draw.normal(k)}
    given |= {"W_" + name: draw.normal(k, d) for name in "qkvo"}
    h = sequences(k, time=time)
    for b in range(BATCH):
        x = given["x"][b]
        q, key, value = (x @ given["W_" + name].T for name in "qkv")
        log_i = x @ given["w_i"] + given["b_i"]
        past = np.cumsum(np.log(expit(x @ given["w_f"] + given["b_f"])))
        for t in range(time):
            weights = np.exp(log_i[: t + 1] + past[t] - past[: t + 1]) * (key[: t + 1] @ q[t]) / np.sqrt(k)
            o = expit(given["W_o"] @ x[t] + given["b_o"])
            h[b, t] = o * (weights @ value[: t + 1]) / max(abs(weights.sum()), 1)
    return given, {"h": h}


def mlstm_sig(draw, time):
    """As causal attention with decays."""
    k, d = 4, 3
    given = {"x": draw.normal(BATCH, time, d), "w_i": draw.normal(d), "w_f": draw.normal(d), "b_i": draw.normal(),
             "b_f": draw.normal(mean=2)} | {"W_" + name: draw.normal(k, d) for name in "qkv"}
    h = sequences(k, time=time)
    for b in range(BATCH):
        x = given["x"][b]
        q, key, value = (x @ given["W_" + name].T for name in "qkv")
        past = np.cumsum(np.log(expit(x @ given["w_f"] + given["b_f"])))
        decays = np.tril(np.exp(np.minimum(past[:, None] - past[None, :], 0)))
        h[b] = (decays * (q @ key.T) * expit(x @ given["w_i"] + given["b_i"])) @ value
    return given, {"h": h}


def biquad(draw, time):
    """One banded system over all steps; its rows are the coefficients of that step."""
    channels = 2
    x = draw.normal(BATCH, time, channels)
    radius, angle = draw.uniform(0.3, 0.9, BATCH, time, channels), draw.uniform(0.2, 2.5, BATCH, time, channels)
    given = {"x": x} | {name: draw.normal(BATCH, time, channels) for name in ("b_0", "b_1", "b_2")}
    given |= {"a_1": draw.rounded(-2 * radius * np.cos(angle)), "a_2": draw.rounded(radius**2)}
    y = sequences(channels, time=time)
    for b in range(BATCH):
        for i in range(channels):
            late = np.concatenate([[0, 0], x[b, :, i]])
            right = sum(given[f"b_{n}"][b, :, i] * late[2 - n : 2 - n + time] for n in range(3))
            left = np.eye(time) + np.diag(given["a_1"][b, 1:, i], -1) + np.diag(given["a_2"][b, 2:, i], -2)
            y[b, :, i] = scipy.linalg.solve_triangular(left, right, lower=True)
    return given, {"y": y}


def svf(draw, time):
    """The trapezoidal rule as an implicit 2x2 system for the voltages, with Zavalishin's states from it."""
    channels = 2
    given = {"x": draw.normal(BATCH, time, channels), "cutoff": draw.uniform(0.01, 0.4, BATCH, time, channels),
             "damping": draw.uniform(0.1, 2, BATCH, time, channels)}
    expected = {name: sequences(channels, time=time) for name in ("high", "band", "low")}
    for b in range(BATCH):
        for i in range(channels):
            state = np.zeros(2)
            for t in range(time):
                g, damping = np.tan(np.pi * given["cutoff"][b, t, i]), given["damping"][b, t, i]
                slope = np.array([[-damping, -1], [1, 0]])
                drive = np.array([given["x"][b, t, i], 0])
                band, low = np.linalg.solve(np.eye(2) - g * slope, state + g * drive)
                state = 2 * np.array([band, low]) - state
                expected["band"][b, t, i], expected["low"][b, t, i] = band, low
                expected["high"][b, t, i] = given["x"][b, t, i] - damping * band - low
    return given, expected
