"""`gonn doctor`: what this machine has, and which precision trains faster on it.

Imports: orchestration, runners, speeds; reports, gonn_core.
"""
