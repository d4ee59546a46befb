"""Measures NumPy's product of (8 x 4096, 256) with (256, 768) in f32, as the projections of
projected.rnn are one product; prints the median as JSON. Run with one thread."""

import json
import statistics
import sys
import time

try:
    import numpy
except ImportError:
    sys.exit(1)

x = numpy.random.default_rng(0).standard_normal((8 * 4096, 256), dtype=numpy.float32)
weights = numpy.random.default_rng(1).standard_normal((768, 256), dtype=numpy.float32)
result = numpy.empty((8 * 4096, 768), dtype=numpy.float32)
times = []
for _ in range(15):
    start = time.perf_counter()
    numpy.matmul(x, weights.T, out=result)
    times.append(time.perf_counter() - start)
print(json.dumps({"median_seconds": statistics.median(times)}))
