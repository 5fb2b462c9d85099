"""`python -m gonn_core.rehearsal`: see `gonn_core.rehearsal.process`."""

from gonn_core.rehearsal.process import main

if __name__ == "__main__":
    raise SystemExit(main())
