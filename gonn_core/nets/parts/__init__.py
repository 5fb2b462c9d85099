"""Parts of several families: activations, normalisation, pooling, dropout, what blocks know of a board.

Imports init, of features what planes are and their normalisation, of go the points.
"""
