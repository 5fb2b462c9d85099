"""Input planes: named plane sets, made from rows of the position store by kernels."""
