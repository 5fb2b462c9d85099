"""One page over several studies: every enhancement, the smallest effect it could have shown, its claim.

Imports: claims, figures, reports, results, stats, study, tables, worth; ablations, gonn_core.
"""
