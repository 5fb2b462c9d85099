"""Estimates, noise, intervals and verdicts: numbers in, numbers and words out.

Imports nothing of reports: what a study or a trial is, is not known here.
"""
