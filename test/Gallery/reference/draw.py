"""Random arguments that both f32 and f64 hold exactly, so that the two types compute on the same numbers."""
import zlib

import numpy as np

BATCH = 2


class Draw:
    """Numbers that depend on the name of the cell alone."""

    def __init__(self, name):
        self.generator = np.random.default_rng(zlib.crc32(name.encode()))

    def normal(self, *shape, scale=1.0, mean=0.0):
        return self.rounded(mean + scale * self.generator.standard_normal(shape))

    def uniform(self, low, high, *shape):
        return self.rounded(self.generator.uniform(low, high, shape))

    def complex(self, *shape, scale=1.0):
        return self.normal(*shape, scale=scale) + 1j * self.normal(*shape, scale=scale)

    @staticmethod
    def rounded(values):
        return np.asarray(values, np.float32).astype(np.float64)


def sequences(*shape, time):
    """Room for a result: (batch, time, ...)."""
    return np.zeros((BATCH, time) + shape)
