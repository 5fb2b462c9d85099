"""Data sets: what a declaration may say, the files found for it, the store and views made of them, filters of games.

May import the schema's YAML reader and gonn_core; the declarations are ../datasets/*.yaml.
"""
