"""Parts of several families: activations, normalisation, pooling, dropout, what blocks know of a board."""
