"""Learning-rate searches: what is searched, which rate comes next, when a trial is given up, what was found.

Optuna has its only door here, `optuna_rates`.
"""
