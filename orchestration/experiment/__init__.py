"""What studies and searches share while their trials run: progress, accounting, stopping.

Imports runners; knows neither studies nor searches.
"""
