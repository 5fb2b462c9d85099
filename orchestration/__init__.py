"""Who runs when, and who is told: the command, planning, runners, tracking, searches, matches.

One folder a job; `console` serves all of them.
"""
