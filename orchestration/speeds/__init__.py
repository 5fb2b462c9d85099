"""How fast nets train here, measured and cached for the day; how long a study takes, and the smallest effect it
shows; `gonn doctor`.
"""
