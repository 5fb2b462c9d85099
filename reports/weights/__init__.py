"""Looks inside trained nets: weights by layer, channels before pooling, and what is kept of them."""
