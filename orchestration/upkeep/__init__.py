"""The state of a workspace, what may go, and trials from other machines: `gonn status`, `gonn clean`, `gonn import`."""
