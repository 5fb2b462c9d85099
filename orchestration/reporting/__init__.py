"""Reports made, shown and recorded: `gonn report`, `gonn ui`, `gonn sync`.

Imports study, search, experiment and tracking.
"""
