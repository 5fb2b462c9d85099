"""Reports written, shown and recorded: `gonn report`, `gonn sync`, `gonn ui`."""
