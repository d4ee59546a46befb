"""Cells whose units all see each other. With stacked matrices, or by PyTorch where it has the cell."""
import numpy as np
import scipy.linalg
import torch
from scipy.special import expit

from .draw import BATCH, sequences

torch.set_default_dtype(torch.float64)


def layer(kind, x, W, U, b, c, **options):
    """One layer of PyTorch's, and what it gives; gates are stacked along the first axis."""
    net = kind(W.shape[1], U.shape[1], batch_first=True, **options)
    with torch.no_grad():
        for weight, value in zip(net.parameters(), (W, U, b, c)):
            weight.copy_(torch.from_numpy(value))
        return net, net(torch.from_numpy(x))[0].numpy()


def gates(draw, names, d, m, scale=0.5):
    """W_*, U_* and b_* of every gate, and the same stacked as [W U b]."""
    given = {}
    for name in names:
        given |= {"W_" + name: draw.normal(d, m, scale=scale), "U_" + name: draw.normal(d, d, scale=scale),
                  "b_" + name: draw.normal(d, scale=scale)}
    stacked = {letter: np.concatenate([given[f"{letter}_{name}"] for name in names]) for letter in "WUb"}
    return given, stacked


def gru(draw, time):
    d, m = 4, 3
    given, stacked = gates(draw, "rzn", d, m)
    given |= {"x": draw.normal(BATCH, time, m), "c_n": draw.normal(d, scale=0.5)}
    inside = np.concatenate([np.zeros(2 * d), given["c_n"]])
    _, h = layer(torch.nn.GRU, given["x"], stacked["W"], stacked["U"], stacked["b"], inside)
    return given, {"h": h}


def lstm(draw, time):
    """PyTorch returns the last memory alone, so it runs every beginning of the sequence."""
    d, m = 4, 3
    given, stacked = gates(draw, "ifgo", d, m)
    given["x"] = draw.normal(BATCH, time, m)
    net, h = layer(torch.nn.LSTM, given["x"], stacked["W"], stacked["U"], stacked["b"], np.zeros(4 * d))
    with torch.no_grad():
        memory = [net(torch.from_numpy(given["x"][:, : t + 1]))[1][1][0].numpy() for t in range(time)]
    return given, {"h": h, "c": np.stack(memory, axis=1)}


def elman(draw, time):
    d, m, p = 4, 3, 2
    given = {"x": draw.normal(BATCH, time, m), "W": draw.normal(d, m), "U": draw.normal(d, d, scale=0.5),
             "b": draw.normal(d), "V": draw.normal(p, d), "c": draw.normal(p)}
    _, h = layer(torch.nn.RNN, given["x"], given["W"], given["U"], given["b"], np.zeros(d))
    y = torch.nn.functional.linear(*(torch.from_numpy(a) for a in (h, given["V"], given["c"]))).numpy()
    return given, {"h": h, "y": y}


def elman_heads(draw, time):
    """One dense network whose matrix is block-diagonal."""
    heads, k = 3, 4
    given = {"x": draw.normal(BATCH, time, heads, k), "R": draw.normal(heads, k, k, scale=0.4)}
    size = heads * k
    _, h = layer(torch.nn.RNN, given["x"].reshape(BATCH, time, size), np.eye(size),
                 scipy.linalg.block_diag(*given["R"]), np.zeros(size), np.zeros(size))
    return given, {"h": h.reshape(BATCH, time, heads, k)}


def paragru(draw, time):
    """PyTorch's GRU with diagonal matrices; its z is the other one, 1 - z."""
    d = 5
    given = {name: draw.normal(BATCH, time, d) for name in ("x_z", "x_r", "x_n")}
    given |= {name: draw.normal(d) for name in ("a_z", "a_r", "a_n")}
    x = np.concatenate([given["x_r"], -given["x_z"], given["x_n"]], axis=2)
    U = np.concatenate([np.diag(given["a_r"]), -np.diag(given["a_z"]), np.diag(given["a_n"])])
    return given, {"h": layer(torch.nn.GRU, x, np.eye(3 * d), U, np.zeros(3 * d), np.zeros(3 * d))[1]}


def paralstm(draw, time):
    """PyTorch has no peepholes: gates as one matrix on (h, c), a step at a time."""
    d = 5
    given = {name: draw.normal(BATCH, time, d) for name in ("x_f", "x_z", "x_o")}
    given |= {name: draw.normal(d) for name in ("a_f", "a_z", "a_o", "c_f", "c_o")}
    zero = np.zeros((d, d))
    early = np.block([[np.diag(given["a_f"]), np.diag(given["c_f"])], [np.diag(given["a_z"]), zero]])
    late = np.block([np.diag(given["a_o"]), np.diag(given["c_o"])])
    expected = {"c": sequences(d, time=time), "h": sequences(d, time=time)}
    for b in range(BATCH):
        c, h = np.zeros(d), np.zeros(d)
        for t in range(time):
            drive = early @ np.concatenate([h, c]) + np.concatenate([given["x_f"][b, t], given["x_z"][b, t]])
            f, z = expit(drive[:d]), np.tanh(drive[d:])
            c = c + (1 - f) * (z - c)
            h = expit(late @ np.concatenate([h, c]) + given["x_o"][b, t]) * np.tanh(c)
            expected["c"][b, t], expected["h"][b, t] = c, h
    return given, expected


def peephole_lstm(draw, time):
    """Graves's equations with the peepholes as diagonal matrices on c."""
    d, m = 4, 3
    given, stacked = gates(draw, "ifco", d, m)
    given |= {"x": draw.normal(BATCH, time, m)} | {"p_" + gate: draw.normal(d) for gate in "ifo"}
    expected = {"c": sequences(d, time=time), "h": sequences(d, time=time)}
    weights = np.column_stack([stacked["W"], stacked["U"], stacked["b"]])
    old = np.concatenate([np.diag(given["p_i"]), np.diag(given["p_f"])])
    for b in range(BATCH):
        c, h = np.zeros(d), np.zeros(d)
        for t in range(time):
            a = weights @ np.concatenate([given["x"][b, t], h, [1]])
            i, f = np.split(expit(a[: 2 * d] + old @ c), 2)
            c = f * c + i * np.tanh(a[2 * d : 3 * d])
            h = expit(a[3 * d :] + np.diag(given["p_o"]) @ c) * np.tanh(c)
            expected["c"][b, t], expected["h"][b, t] = c, h
    return given, expected


def fastgrnn(draw, time):
    """With the product U_1 U_2 formed once."""
    d, m, r = 4, 3, 2
    given = {"x": draw.normal(BATCH, time, m), "W": draw.normal(d, m), "U_1": draw.normal(d, r),
             "U_2": draw.normal(r, d), "b_z": draw.normal(d), "b_h": draw.normal(d),
             "zeta": draw.normal(mean=1), "nu": draw.normal(mean=-4)}
    weights = np.hstack([given["W"], given["U_1"] @ given["U_2"]])
    zeta, nu = expit(given["zeta"]), expit(given["nu"])
    h_all = sequences(d, time=time)
    for b in range(BATCH):
        h = np.zeros(d)
        for t in range(time):
            u = weights @ np.concatenate([given["x"][b, t], h])
            z = expit(u + given["b_z"])
            h = z * h + (zeta - zeta * z + nu) * np.tanh(u + given["b_h"])
            h_all[b, t] = h
    return given, {"h": h_all}


def antisymmetric_rnn(draw, time):
    d, m, step, gamma = 4, 3, 0.1, 0.1
    given = {"x": draw.normal(BATCH, time, m), "W": draw.normal(d, d), "V": draw.normal(d, m), "b": draw.normal(d)}
    skew = np.array([[given["W"][i, j] - given["W"][j, i] - gamma * (i == j) for j in range(d)] for i in range(d)])
    drive = np.einsum("btm,dm->btd", given["x"], given["V"]) + given["b"]
    h_all = sequences(d, time=time)
    for b in range(BATCH):
        h = np.zeros(d)
        for t in range(time):
            h = h + step * np.tanh(np.einsum("ij,j->i", skew, h) + drive[b, t])
            h_all[b, t] = h
    return given, {"h": h_all}


def cornn(draw, time):
    """As one system for (y, z): an implicit-explicit step is a triangular solve."""
    d, m, step = 4, 3, 0.1
    given = {"u": draw.normal(BATCH, time, m), "W": draw.normal(d, d), "V": draw.normal(d, d), "F": draw.normal(d, m),
             "b": draw.normal(d)}
    one, zero = np.eye(d), np.zeros((d, d))
    new = np.block([[one, -step * one], [zero, one]])
    old = np.block([[one, zero], [-step * one, one - step * one]])
    expected = {"y": sequences(d, time=time), "z": sequences(d, time=time)}
    for b in range(BATCH):
        state = np.zeros(2 * d)
        for t in range(time):
            force = np.tanh(np.hstack([given["W"], given["V"]]) @ state + given["F"] @ given["u"][b, t] + given["b"])
            state = np.linalg.solve(new, old @ state + step * np.concatenate([np.zeros(d), force]))
            expected["y"][b, t], expected["z"][b, t] = np.split(state, 2)
    return given, expected


def lem(draw, time):
    d, m = 4, 3
    names = ("1", "2", "z", "y")
    given = {"u": draw.normal(BATCH, time, m)}
    for name in names:
        given |= {"W_" + name: draw.normal(d, d, scale=0.5), "V_" + name: draw.normal(d, m), "b_" + name: draw.normal(d)}
    weights = {n: np.column_stack([given["W_" + n], given["V_" + n], given["b_" + n]]) for n in names}
    expected = {"y": sequences(d, time=time), "z": sequences(d, time=time)}
    for b in range(BATCH):
        y, z = np.zeros(d), np.zeros(d)
        for t in range(time):
            seen = np.concatenate([y, given["u"][b, t], [1]])
            fast, slow = expit(weights["1"] @ seen), expit(weights["2"] @ seen)
            z = z + fast * (np.tanh(weights["z"] @ seen) - z)
            y = y + slow * (np.tanh(weights["y"] @ np.concatenate([z, given["u"][b, t], [1]])) - y)
            expected["y"][b, t], expected["z"][b, t] = y, z
    return given, expected


def ltc(draw, time):
    """The fused solver as the implicit equation it solves: linear in the new voltage."""
    d, m, step = 4, 3, 0.1
    given = {"x": draw.normal(BATCH, time, m), "W": draw.normal(d, m), "U": draw.normal(d, d), "b": draw.normal(d),
             "A": draw.normal(d), "log_tau": draw.normal(d, scale=0.5)}
    v_all = sequences(d, time=time)
    for b in range(BATCH):
        v = np.zeros(d)
        for t in range(time):
            f = expit(given["U"] @ v + given["W"] @ given["x"][b, t] + given["b"])
            v = np.linalg.solve(np.eye(d) + step * np.diag(1 / np.exp(given["log_tau"]) + f), v + step * f * given["A"])
            v_all[b, t] = v
    return given, {"v": v_all}


def gru_head_norm(draw, time):
    """Head by head, with PyTorch's layer_norm."""
    heads, k, m = 2, 4, 3
    given = {"x": draw.normal(BATCH, time, m)}
    for gate in "rzn":
        given |= {"W_" + gate: draw.normal(heads, k, m), "U_" + gate: draw.normal(heads, k, k),
                  "g_" + gate: draw.normal(heads, k, scale=0.3, mean=1), "b_" + gate: draw.normal(heads, k)}
    tensor = {name: torch.from_numpy(value) for name, value in given.items()}
    h_all = sequences(heads, k, time=time)
    for b in range(BATCH):
        for head in range(heads):
            h = torch.zeros(k)
            for t in range(time):
                product = {gate: torch.nn.functional.layer_norm(tensor["U_" + gate][head] @ h, (k,),
                                                                tensor["g_" + gate][head], None, 1e-5) for gate in "rzn"}
                seen = {gate: tensor["W_" + gate][head] @ tensor["x"][b, t] + tensor["b_" + gate][head] for gate in "rzn"}
                r, z = (torch.sigmoid(seen[gate] + product[gate]) for gate in "rz")
                h = torch.lerp(h, torch.tanh(seen["n"] + r * product["n"]), z)
                h_all[b, t, head] = h.numpy()
    return given, {"h": h_all}
