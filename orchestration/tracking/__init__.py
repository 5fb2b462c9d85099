"""What MLflow shows of studies, searches and trials, and its server.

`client` is the only module that imports MLflow. `tracker` decides when it is written, `writer` writes experiments and
runs, `records` and `reported` say what they show, from files and reports.
"""
