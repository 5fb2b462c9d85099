"""Files that are whole or not there: text, JSON, arrays, folders under construction, locks.

Imports nothing but `gonn_core.errors`.
"""
