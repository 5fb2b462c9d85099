"""How fast nets train here, measured once a day and kept; how long a study takes and what it shows, from these and from
the table that ships; on a GPU that is not here, by the model of a step.

Imports: orchestration, runners; reports, ablations, gonn_core.
"""
