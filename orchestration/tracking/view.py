"""The page of a study that MLflow opens: its trials' learning curves, nats first.

MLflow keeps a shared view of an experiment as JSON in a tag of the experiment; the address names the tag. Nothing is
lost where a version of MLflow does not know it: the page then shows its default.
"""

import json

from gonn_core.metrics import CHARTS

KEY = "gonn"
TAG = f"mlflow.sharedViewState.{KEY}"
QUERY = f"workflowType=machine_learning&compareRunsMode=CHART&viewStateShareKey={KEY}"
"""What an experiment's address ends with to show this view."""


def view_state() -> str:
    """The view: runs of trials alone (the parent has no curves), up to 20 shown, a chart over samples per top-level
    metric, details folded."""
    charts = [
        {
            "type": "LINE",
            "uuid": name,
            "metricKey": name,
            "displayName": name,
            "metricSectionId": "top",
            "isGenerated": True,
            "deleted": False,
            "runsCountToCompare": 20,
            "xAxisKey": "step",
            "useGlobalXaxisKey": True,
            "useGlobalLineSmoothing": True,
            "lineSmoothness": 0,
            "scaleType": "linear",
            "xAxisScaleType": "linear",
            "selectedXAxisMetricKey": "",
            "range": {},
            "yAxisKey": "metric",
            "yAxisExpressions": [],
            "ignoreOutliers": False,
        }
        for name in CHARTS
    ]
    section = {"isReordered": False, "deleted": False, "isGenerated": True}
    return json.dumps(
        {
            "searchFilter": "tags.role = 'trial'",
            "orderByKey": "tags.`mlflow.runName`",
            "orderByAsc": True,
            "runsHiddenMode": "FIRST_20_RUNS",
            "compareRunCharts": charts,
            "compareRunSections": [
                {"uuid": "top", "name": "Model metrics", "display": True, **section},
                {"uuid": "detail", "name": "detail", "display": False, **section},
            ],
            "isAccordionReordered": True,
        }
    )
