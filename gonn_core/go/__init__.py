"""Points, rules, ladders and symmetries of 19x19 Go, as numba kernels under plain functions; the layout of rows."""
