"""The report over everything: a section a module, all written by `book`.

Imports every other folder of reports; none imports it.
"""
