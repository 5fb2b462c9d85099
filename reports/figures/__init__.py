"""How figures look, and the figure of a study.

matplotlib is imported when something is drawn.

Imports: claims, reports, results, stats, tables; gonn_core.
"""
