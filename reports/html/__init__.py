"""Pages that a browser opens without a server: one file each, with its style, scripts, numbers and pictures."""
