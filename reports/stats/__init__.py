"""Estimates, noise, intervals and verdicts: numbers in, numbers and words out."""
