"""Files that are whole or not there: bytes, JSON, arrays, folders under construction; locks between processes.

Imports nothing but `gonn_core.errors`.
"""
