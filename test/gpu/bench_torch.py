"""PyTorch's eager loop over time for the cells of `benches`, on the device: lines of MODULE BATCH TIME WIDTH and
the median in milliseconds. Shapes whose loop would take minutes are left out.

usage: bench_torch.py BENCHES
"""
import sys

import torch


def paragru(x, p, h):
    z = torch.sigmoid(torch.addcmul(x[0], p[0], h))
    r = torch.sigmoid(torch.addcmul(x[1], p[1], h))
    n = torch.tanh(torch.addcmul(x[2], p[2], r * h))
    return torch.lerp(h, n, z)


def ema(x, p, h):
    return torch.addcmul((1 - p[0]) * x[0], p[0], h)


CELLS = {"paragru": (paragru, 3), "ema": (ema, 1)}
MOST_STEPS = 8192


def median(values):
    return sorted(values)[len(values) // 2]


def measure(step, arrays, batch, time, width, dtype):
    x = [torch.randn(time, batch, width, device="cuda", dtype=dtype) for _ in range(arrays)]
    p = [torch.randn(width, device="cuda", dtype=dtype) * 0.3 for _ in range(arrays)]
    taken = []
    for repeat in range(4):
        h = torch.zeros(batch, width, device="cuda", dtype=dtype)
        out = torch.empty(time, batch, width, device="cuda", dtype=dtype)
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        before.record()
        for t in range(time):
            h = step([each[t] for each in x], p, h)
            out[t] = h
        after.record()
        torch.cuda.synchronize()
        taken.append(before.elapsed_time(after))
    return median(taken[1:])


def main(path):
    for line in open(path):
        module, _, batch, time, width = line.split()
        name, _, kind = module.rpartition("_")
        if name not in CELLS or int(time) > MOST_STEPS:
            continue
        step, arrays = CELLS[name]
        dtype = torch.float64 if kind == "f64" else torch.float32
        with torch.no_grad():
            milliseconds = measure(step, arrays, int(batch), int(time), int(width), dtype)
        print(module, batch, time, width, f"{milliseconds:.4f}", flush=True)


if __name__ == "__main__":
    if not torch.cuda.is_available():
        sys.exit("PyTorch finds no CUDA device")
    main(sys.argv[1])
