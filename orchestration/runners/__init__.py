"""Who runs trials: worker processes of this machine, or Ray Tune here or on a cluster. A runner only decides where.

Ray has its only door here, `ray_tune`. This folder travels to the nodes of a cluster, with gonn_core alone.

Imports: orchestration; gonn_core.
"""
