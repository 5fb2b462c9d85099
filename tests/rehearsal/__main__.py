"""`python -m tests.rehearsal`: see `tests.rehearsal.process`."""

from tests.rehearsal.process import main

if __name__ == "__main__":
    raise SystemExit(main())
