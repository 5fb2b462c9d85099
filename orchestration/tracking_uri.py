"""Where MLflow's records are, and how that is shown."""

import os
import re
from pathlib import Path

from gonn_core.errors import SettingError, printable

_SCHEMES = ("sqlite", "postgresql", "mysql", "mssql", "http", "https")


def tracking_uri(root: Path) -> str:
    """`MLFLOW_TRACKING_URI`, or the data base of the workspace at `root`. Raises SettingError for one that MLflow cannot use."""
    uri = os.environ.get("MLFLOW_TRACKING_URI")
    if not uri:
        return f"sqlite:///{root / 'mlflow.db'}"
    if uri.split(":")[0].split("+")[0] not in _SCHEMES or "://" not in uri:
        raise SettingError("MLFLOW_TRACKING_URI", redacted(uri), "not a tracking server or data base", f"a URI that starts with {', '.join(_SCHEMES)}")
    return uri


def redacted(text: str) -> str:
    """`text`, printable, with user names and passwords in URIs replaced by ***."""
    return printable(re.sub(r"://[^/\s]*@", "://***@", text))
