"""What MLflow is told, and its server and pages.

MLflow has its only door here, `tracker`; `records` says what is told without knowing of MLflow. Imports reports and
ablations.
"""
