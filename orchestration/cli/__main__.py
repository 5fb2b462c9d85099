"""`python -m orchestration.cli`: the `gonn` command without its entry point."""

from orchestration.cli.command import main

main()
