"""Where MLflow's records are, and how that is shown."""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from gonn_core.errors import SettingError, printable

_SCHEMES = ("sqlite", "postgresql", "mysql", "mssql", "http", "https")
_DRIVERS = (
    "a tracking server's http://…, or, after pip install, postgresql+psycopg2://… (psycopg2-binary) "
    "or mysql+pymysql://… (pymysql)"
)


def tracking_uri(root: Path) -> str:
    """`MLFLOW_TRACKING_URI`, or the data base of the workspace at `root`. Raises SettingError for one that MLflow
    cannot use."""
    uri = os.environ.get("MLFLOW_TRACKING_URI")
    if not uri:
        return f"sqlite:///{root / 'mlflow.db'}"
    if uri.split(":")[0].split("+")[0] not in _SCHEMES or "://" not in uri:
        raise SettingError(
            "MLFLOW_TRACKING_URI",
            redacted(uri),
            "not a tracking server or data base",
            f"a URI that starts with {', '.join(_SCHEMES)}",
        )
    return uri


def check_driver(uri: str) -> None:
    """That the Python driver of a data base is installed. Raises SettingError (MLFLOW_TRACKING_URI) that names its
    package."""
    if uri.startswith(("http:", "https:", "sqlite:")):
        return
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        make_url(uri).get_dialect().import_dbapi()
    except (ArgumentError, ValueError):  # the latter for a port that is no number
        raise SettingError(
            "MLFLOW_TRACKING_URI",
            redacted(uri),
            "not a data base that can be used",
            f"a URI that starts with {', '.join(_SCHEMES)}",
        ) from None
    except ImportError as error:
        raise SettingError(
            "MLFLOW_TRACKING_URI", redacted(uri), f"its driver {error.name} is not installed", _DRIVERS
        ) from None


_SECRET = r"[\w.-]*(?:passw|pwd|token|secret|key|auth|credential|signature|sig)[\w.-]*"


def redacted(text: str) -> str:
    """`text`, printable, with user names and passwords in URIs replaced by ***, and what follows `password=`, `token=`
    or a like word in one."""
    text = re.sub(r"://[^/\s]*@", "://***@", text)
    return printable(re.sub(rf"(?i)([?&; ]{_SECRET}=)[^&;#\s]+", r"\1***", text))


def page_of(uri: str) -> str:
    """Address of the pages of a tracking server, with nothing in it that would let somebody in: no user, no query."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
