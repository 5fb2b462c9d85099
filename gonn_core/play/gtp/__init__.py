"""A trained net as a GTP engine: its commands, its session, its guard.

Imports play and engines.
"""
