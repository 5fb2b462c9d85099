"""A trained net as a GTP engine: its commands, its session, analysis, files of games, its guard."""
