"""How figures look, and the figure of a study. matplotlib is imported when something is drawn."""
