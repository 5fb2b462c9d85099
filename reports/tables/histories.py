"""How much history an evaluation showed, in words."""

from collections.abc import Mapping

from gonn_core.settings.evaluation import HistoryMode

HISTORY: Mapping[HistoryMode, str] = {
    "full": "full history",
    "as_published": "history dropped as in the published test rows",
    "none": "no history",
}
