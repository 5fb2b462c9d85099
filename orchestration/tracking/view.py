"""The page of a study that MLflow opens: learning curves by arm, the loss over validation games first.

MLflow keeps a shared view of an experiment as JSON in a tag of the experiment; the address names the tag. Nothing is
lost where a version of MLflow does not know it: the page then shows its default.
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from orchestration.tracking.names import CURVES, DELTA, TEST

KEY = "gonn"
TAG = f"mlflow.sharedViewState.{KEY}"
COLOURS_TAG = "mlflow.gonn.colours"
"""Of an experiment: arm -> colour, as JSON."""
QUERY = f"workflowType=machine_learning&compareRunsMode=CHART&viewStateShareKey={KEY}"
"""What an experiment's address ends with to show this view."""
UNIFORM = math.log(361)
"""Nats of a policy that knows nothing."""
_COLUMNS = ("tags.`arm`", "tags.`seed`", "metrics.`test_nats`", "metrics.`test_top1`", "params.`training.samples`")
_LOSSES = ("validation_nats", "train_nats")
_MARGIN = 0.1
LONGEST_TAG = 5000
"""Characters that a tag of an experiment holds."""


class Range(NamedTuple):
    """What an axis shows, in nats."""

    low: float
    high: float
    cut: bool
    """Whether some of the curve lies above."""


def extremes(points: Iterable[Mapping[str, float]]) -> tuple[dict[str, float], dict[str, float]]:
    """The lowest and the highest of each loss."""
    lowest: dict[str, float] = {}
    highest: dict[str, float] = {}
    for metrics in points:
        for name in _LOSSES:
            if math.isfinite(metrics.get(name, math.nan)):
                lowest[name] = min(lowest.get(name, math.inf), metrics[name])
                highest[name] = max(highest.get(name, -math.inf), metrics[name])
    return lowest, highest


def ranges(points: Iterable[Mapping[str, float]]) -> dict[str, Range]:
    """Loss -> what its axis shows. A loss above that of a uniform policy, as at the first looks, would make the rest of
    the curve a flat line: the axis ends there, unless there is nothing below. Nothing is dropped: the axis can be drawn
    out, and the title of the charts says where it ends."""
    lowest, highest = extremes(points)
    shown = {}
    for name, low in lowest.items():
        cut = low < UNIFORM < highest[name]
        high = UNIFORM if cut else highest[name]
        margin = max(_MARGIN * (high - low), 0.01)
        shown[name] = Range(round(low - margin, 2), round(high if cut else high + margin, 2), cut)
    return shown


def view_state(shown: Mapping[str, Range] | None = None, grouped: bool = True) -> str:
    """The view: runs of trials alone (the parent has no curves), all of them shown, a line an arm (the mean of its
    seeds) over samples per top-level metric, the difference to the control as bars, details folded; and the columns of
    the table. shown: see `ranges`; grouped: a line an arm, otherwise one a trial."""
    lines = [_line(name, (shown or {}).get(name)) for name in CURVES]
    cut = any(each.cut for each in (shown or {}).values())
    curves = f"Curves; losses up to {UNIFORM:.2f} nats, a uniform policy" if cut else "Curves"
    section = {"isReordered": False, "deleted": False, "isGenerated": True}
    sections = [("top", curves, True), ("test", "Test games", True), ("detail", "detail", False)]
    by_arm = [{"mode": "tag", "groupByData": "arm"}]
    state = {
        "searchFilter": "tags.role = 'trial'",
        "orderByKey": "tags.`arm`",
        "orderByAsc": True,
        "selectedColumns": [*_COLUMNS, f"metrics.`{DELTA}`"],
        "runsHiddenMode": "SHOW_ALL",
        "groupBy": {"aggregateFunction": "average", "groupByKeys": by_arm} if grouped else None,
        "compareRunCharts": [*lines, _bars(DELTA), _bars(TEST["nats"])],
        "compareRunSections": [{"uuid": key, "name": name, "display": on, **section} for key, name, on in sections],
        "isAccordionReordered": True,
    }
    return json.dumps(state, separators=(",", ":"))


def colours_tag(colours: Mapping[str, str]) -> str:
    """Colours of arms as their tag has them; none where a tag cannot hold them, and groups then have MLflow's own."""
    text = json.dumps(colours, separators=(",", ":"))
    return text if len(text) <= LONGEST_TAG else "{}"


def _line(metric: str, shown: Range | None) -> dict:
    return {
        **_chart("LINE", metric, "top"),
        "displayName": metric,
        "xAxisKey": "step",
        "useGlobalXaxisKey": True,
        "useGlobalLineSmoothing": True,
        "lineSmoothness": 0,
        "scaleType": "linear",
        "xAxisScaleType": "linear",
        "selectedXAxisMetricKey": "",
        "range": {"yMin": shown.low, "yMax": shown.high} if shown else {},
        "yAxisKey": "metric",
        "yAxisExpressions": [],
        "ignoreOutliers": False,
    }


def _bars(metric: str) -> dict:
    return {**_chart("BAR", metric, "test"), "displayName": metric}


def _chart(kind: str, metric: str, section: str) -> dict:
    common = {"isGenerated": True, "deleted": False, "runsCountToCompare": 100}
    return {"type": kind, "uuid": metric, "metricKey": metric, "metricSectionId": section, **common}
