"""The plain convolutional family: go-NN, Clark & Storkey (spec: other systems 1, 2).

Imports: go, gonn_core, nets, nets.parts.
"""
