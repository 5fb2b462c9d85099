"""Who runs trials: worker processes of this machine, or Ray Tune here or on a cluster. A runner only decides where.

Ray has its only door here, `ray_tune`. Imports gonn_core alone: this folder travels to the nodes.
"""
