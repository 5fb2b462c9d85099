"""Inside trained nets: statistics of weights for claims, and the page of `gonn inspect`."""
