"""Runners of trials: worker processes on this machine, or Ray Tune on this machine or a cluster.

`ray_tune` is the only module that imports Ray. This folder is sent to the nodes of a cluster, with gonn_core alone.
"""
