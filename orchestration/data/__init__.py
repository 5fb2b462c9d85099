"""Data sets of a workspace: `gonn data list`, `build` and `fetch`, and the store that a command's trials need."""
