"""What was found, from trial directories and study files alone: statistics, verdicts, tables, figures, pages.

One folder a subject. Imports ablations and gonn_core; never Ray, MLflow or Optuna.
"""
