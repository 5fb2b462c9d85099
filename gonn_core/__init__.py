"""How one run is done: rules, records, planes, nets, training, evaluation, trial directories.

Needs torch, numpy, numba, sgfmill and pydantic; never Ray, MLflow, Optuna or matplotlib.
"""
