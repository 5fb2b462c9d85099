"""The documents' tables of results, rebuilt: what is published, in their words and with their marks, and beside it what
was measured here, or that it was not.
"""
