"""Parts of several families: activations, normalisation, pooling, dropout, what blocks know of a board.

Imports: features, go, gonn_core, nets, settings.
"""
