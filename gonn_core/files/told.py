"""What is damaged and left out, told once by each process: a line of the log, on stderr unless somebody listens."""

import logging

from gonn_core.errors import Damaged

_LOG = logging.getLogger(__name__)
_TOLD: set[str] = set()


def tell(damage: Damaged, consequence: str = "it is left out") -> None:
    """One line that names the file, what is wrong, and what follows."""
    line = f"{damage}; {consequence}"
    if line not in _TOLD:
        _TOLD.add(line)
        _LOG.warning("%s", line)
