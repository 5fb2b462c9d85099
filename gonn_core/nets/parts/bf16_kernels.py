"""Batch normalisation and activation of bfloat16 numbers in one pass over memory, for a CPU: numba kernels.

An image batch is (rows, channels) here: rows = positions times points, channels next to each other in memory, bfloat16
as the uint16 that it is. All arithmetic is in float32, sums of a block of rows too; sums over blocks are in float64. No
operation is reordered by the compiler, so every processor gives the same bits.

This file is not part of the hash that names the kernel cache (go/jit.py): no other file's kernel calls these, and numba
compares the file itself.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gonn_core.go.jit import inlined, kernel

BLOCK = 128
"""Rows that are summed in float32 before they are added to the float64 totals."""


@intrinsic
def _bits_of(typing_context, number):
    def generate(context, builder, sig, args):
        return builder.bitcast(args[0], ir.IntType(32))

    return types.uint32(types.float32), generate


@intrinsic
def _number_of(typing_context, bits):
    def generate(context, builder, sig, args):
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.uint32), generate


bits_of: Any = _bits_of
number_of: Any = _number_of


@inlined
def widened(half):
    """bfloat16 (uint16) -> the float32 of the same value."""
    return number_of(np.uint32(half) << np.uint32(16))


@inlined
def rounded(number):
    """float32 -> the nearest bfloat16 (uint16), of two the even one; what is no number stays none."""
    bits = bits_of(number)
    return np.uint16((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16))


@kernel
def moments(x, shift, mean, variance):
    """Mean and (biased) variance of each channel of x (rows, channels) bfloat16, into float32 arrays (channels,).

    shift (channels,) float32: numbers near the means; sums are of what is left, so that a large mean costs no digits.
    """
    rows, channels = x.shape
    totals = np.zeros((2, channels), np.float64)
    first, second = np.empty(channels, np.float32), np.empty(channels, np.float32)
    for start in range(0, rows, BLOCK):
        first[:] = 0
        second[:] = 0
        end = min(start + BLOCK, rows)
        for row in range(start, end):
            for c in range(channels):
                value = widened(x[row, c]) - shift[c]
                first[c] += value
                second[c] += value * value
        for c in range(channels):
            totals[0, c] += first[c]
            totals[1, c] += second[c]
    for c in range(channels):
        offset = totals[0, c] / rows
        mean[c] = np.float32(shift[c] + offset)
        variance[c] = np.float32(max(totals[1, c] / rows - offset * offset, 0.0))


@kernel
def normalise(x, scale, offset, slopes, y):
    """y = act(scale * x + offset), with act(z) = z where z > 0, else slopes * z; x, y (rows, channels) bfloat16, the
    others (channels,) float32."""
    rows, channels = x.shape
    for row in range(rows):
        for c in range(channels):
            z = widened(x[row, c]) * scale[c] + offset[c]
            y[row, c] = rounded(z if z > 0 else slopes[c] * z)


@kernel
def gradient_sums(grad, x, scale, offset, slopes, mean, sums):
    """Sums over the rows that the gradients need, into sums (3, channels) float64: of dz, of dz * (x - mean) and of
    grad * z where z <= 0; z = scale * x + offset, dz = grad where z > 0, else slopes * grad."""
    rows, channels = x.shape
    sums[:] = 0
    first, second, third = (
        np.empty(channels, np.float32),
        np.empty(channels, np.float32),
        np.empty(channels, np.float32),
    )
    zero = np.float32(0)
    for start in range(0, rows, BLOCK):
        first[:] = 0
        second[:] = 0
        third[:] = 0
        end = min(start + BLOCK, rows)
        for row in range(start, end):
            for c in range(channels):
                value, g = widened(x[row, c]), widened(grad[row, c])
                z = value * scale[c] + offset[c]
                above = z > 0
                dz = g if above else slopes[c] * g
                first[c] += dz
                second[c] += dz * (value - mean[c])
                third[c] += zero if above else g * z
        for c in range(channels):
            sums[0, c] += first[c]
            sums[1, c] += second[c]
            sums[2, c] += third[c]


@kernel
def input_gradient(grad, x, scale, offset, slopes, mean, constant, factor, out):
    """out = scale * dz - constant - factor * (x - mean), (rows, channels) bfloat16, with dz as in `gradient_sums`."""
    rows, channels = x.shape
    for row in range(rows):
        for c in range(channels):
            value, g = widened(x[row, c]), widened(grad[row, c])
            z = value * scale[c] + offset[c]
            dz = g if z > 0 else slopes[c] * g
            out[row, c] = rounded(scale[c] * dz - constant[c] - factor[c] * (value - mean[c]))
