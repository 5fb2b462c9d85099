"""What MLflow is told about a search: its trials are runs below one parent that shows the rate found."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from ablations.search import Search, Tried
from orchestration.tracking.records import StudyInfo, StudyReport, TrackedTrial, flatten, told_budget
from orchestration.tracking.study_records import plain
from reports.search.page import SearchFiles, notes, sentences


def search_info(search: Search, tried: Sequence[Tried]) -> StudyInfo:
    """A search and its trials so far as MLflow shows them."""
    settings = search.model_dump(mode="json", exclude={"config", "format", "commit", "dirty"})
    return StudyInfo(
        id=search.id,
        title=f"learning rate of {search.title}",
        trials=tuple(TrackedTrial(each.trial, f"rate {each.rate:.4g}", search.seed) for each in tried),
        settings=flatten(settings) | told_budget(search, search.config) | {"design": "search of a learning rate"},
        commit=search.commit,
        dirty=search.dirty,
        given_up=frozenset(each.trial for each in tried if each.state in ("pruned", "diverged")),
    )


def tracked_report(files: SearchFiles) -> StudyReport:
    """The report of a search, with the rate found, its interval and its loss as numbers and tags."""
    report = files.report
    tags: dict[str, str] = {}
    told: dict[str, str] = {}
    numbers: dict[str, float] = {}
    if report.optimum is not None and report.rate is not None:
        best = min((tried for tried in report.tried if tried.nats is not None), key=_nats)
        tags = {"best_trial": best.trial}
        told = {"verdict": f"best rate {report.rate:g}"}
        numbers = {"best_rate": report.rate, "best_validation_nats": report.optimum.nats}
        numbers |= {"best_trial_validation_nats": _nats(best)}
        if report.optimum.interval:
            numbers |= {"best_rate_low": report.optimum.interval.low, "best_rate_high": report.optimum.interval.high}
    figures = {f"figures/{path.name}": path for path in files.figures}
    return StudyReport(
        note="\n\n".join(map(plain, [*sentences(report), *notes(report.search)])),
        files={files.markdown.name: files.markdown} | figures,
        tags=tags,
        told=told,
        numbers=numbers,
        points=tuple(_best_so_far(report.search, report.tried)),
    )


def _best_so_far(search: Search, tried: Sequence[Tried]) -> Iterator[tuple[int, int, dict[str, float]]]:
    """Best nats and their rate after each trial, in the order of asking, up to the first that is under way: what
    follows may still change it."""
    began = round(1000 * datetime.fromisoformat(search.created).timestamp())
    best: tuple[float, float] | None = None
    for each in tried:
        if each.state == "running":
            return
        if each.nats is not None and (best is None or each.nats < best[0]):
            best = each.nats, each.rate
        if best is not None:
            yield (
                each.number + 1,
                began + each.number,
                {"search/best_validation_nats": best[0], "search/best_rate": best[1]},
            )


def _nats(tried: Tried) -> float:
    assert tried.nats is not None, "a trial that is done has nats"
    return tried.nats
