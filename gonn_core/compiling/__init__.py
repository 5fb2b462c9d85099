"""PyTorch's compiler: what a trial's net is to it, what it needs of a machine, where its work is kept.

Imports: files, go, gonn_core, training.
"""
