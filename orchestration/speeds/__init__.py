"""How fast nets train here, measured once a day and kept; how long a study takes and what it shows, from these and from
the table that ships.

Imports: orchestration, runners; reports, ablations, gonn_core.
"""
