"""What MLflow is told, and its server and pages.

MLflow has its only door here, `writer`; `tracker` decides when it writes, `records` and `search_records` say what.

Imports: reports, ablations, gonn_core.
"""
