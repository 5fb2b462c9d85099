"""Untrusted archives and folders as bounded streams of game files; nothing is ever extracted.

Imports `records.report` alone.
"""
