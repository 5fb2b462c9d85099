"""The position store: game archives in, mapped arrays, views, batches of rows out.

Imports: files, go, gonn_core, records.archives, records.sgf.
"""
