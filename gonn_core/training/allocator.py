"""Memory that the layers of a net give back and take again."""

import ctypes

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h of glibc
_KEPT_BYTES = 1 << 30


def keep_memory() -> bool:
    """Have malloc keep up to 1 GiB of what is freed for what is asked for next, from now on in this process; False
    where it is not glibc's.

    By default it returns arrays of megabytes to the system at once, and every layer of a net pays for thousands of page
    faults to get the same memory again: a third of the time of a small net's forward pass, a tenth of its training
    step. No number changes.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)) and bool(mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES))
