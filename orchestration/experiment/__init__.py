"""What studies and searches share: their folders, and `pipeline`, the one road of a command that runs trials, with
progress, accounting and stopping.
"""
