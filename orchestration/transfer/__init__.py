"""`gonn import`: trial directories from other machines, checked before they are taken over.

Imports: orchestration; reports, gonn_core.
"""
