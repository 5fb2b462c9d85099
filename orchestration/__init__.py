"""Who runs when, and who is told: the command, planning, runners, tracking, searches, matches.

One folder a job; `console`, `progress` and `gitinfo` serve all of them.
"""
