"""What MLflow shows of studies, searches and trials, and its server.

`client` is the only module that imports MLflow; `tracker` decides when it writes. `records` and `reported` say what is
shown, from files and reports.
"""
