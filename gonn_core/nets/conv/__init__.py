"""The plain convolutional family: go-NN, Clark & Storkey (spec: other systems 1, 2)."""
