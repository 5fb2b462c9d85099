"""The one place that imports numba: `kernel` compiles a function, on disk once per version of the sources.

numba's own disk cache looks at the file of the compiled function only; when a kernel that it calls changes in another
file, the cached machine code is stale. So the cache folder is keyed by a hash of *all* sources that may hold kernels,
and it is named before numba is imported.
"""

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_KERNEL_PACKAGES = ("go", "records", "features", "evaluation")  # play/kernels.py says why it is not here


def kernel_cache_folder() -> Path:
    """Where compiled kernels of these sources live: `$GONN_CACHE/kernels-<hash>`, by default under the user's cache
    folder. The hash is over every source file that may hold kernels, and over this interpreter's version."""
    digest = hashlib.sha256(repr(sys.version_info[:3]).encode())
    root = Path(__file__).resolve().parent.parent
    for package in _KERNEL_PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return cache_root() / f"kernels-{digest.hexdigest()[:16]}"


def cache_root() -> Path:
    """Where everything compiled is kept: `$GONN_CACHE`, by default gonn under the user's cache folder."""
    return Path(
        os.environ.get("GONN_CACHE")
        or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gonn")
    )


def is_compiled(function: Callable) -> bool:
    """Whether a kernel of these sources is on disk, so that its first call does not compile for seconds."""
    return any(kernel_cache_folder().rglob(f"*.{function.__name__}-*.nbc"))


if "numba" in sys.modules:  # somebody imported numba first: set its folder through its own configuration
    from numba.core import config as _numba_config

    _numba_config.CACHE_DIR = str(kernel_cache_folder())  # type: ignore[attr-defined]
else:
    os.environ["NUMBA_CACHE_DIR"] = str(kernel_cache_folder())

import numba  # noqa: E402
from llvmlite import ir  # noqa: E402
from numba import types  # noqa: E402
from numba.extending import intrinsic  # noqa: E402

_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "boundscheck": False, "error_model": "numpy"}


def kernel(function):
    """Compile `function` in nopython mode: cached on disk, without the GIL, without bounds checks, IEEE division."""
    return numba.njit(**_OPTIONS)(function)


def inlined(function):
    """Compile a small helper into each of its callers."""
    return numba.njit(inline="always", **_OPTIONS)(function)


@intrinsic
def _lowest_bit(typing_context, word):
    signature = types.int64(types.uint64)

    def generate(context, builder, sig, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return signature, generate


lowest_bit: Any = _lowest_bit  # the types of numba do not know that its first argument is not passed
"""Index of the lowest set bit of a non-zero uint64 (undefined for 0); one instruction."""
