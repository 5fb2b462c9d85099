"""The report: everything as JSON, and tables of it in Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.gpu.kernels import CLASSES
from benchmarks.gpu.sections import Found
from gonn_core.files.json_files import write_json
from gonn_core.files.whole import write_whole

FORMAT = 1


def write(folder: Path, name: str, machine: Mapping, asked: Mapping, found: Found, finished: bool) -> None:
    """`<name>.json` and `<name>.md` in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tree = {
        "format": FORMAT,
        "finished": finished,
        "machine": dict(machine),
        "asked": dict(asked),
        "results": found.results,
        "skipped": found.skipped,
        "traces": found.traces,
    }
    write_json(folder / f"{name}.json", tree)
    write_whole(folder / f"{name}.md", (markdown(machine, asked, found, finished) + "\n").encode())


def markdown(machine: Mapping, asked: Mapping, found: Found, finished: bool = True) -> str:
    """The report as a page."""
    return "\n\n".join(filter(None, _parts(machine, asked, found, finished)))


def _parts(machine: Mapping, asked: Mapping, found: Found, finished: bool) -> Iterable[str]:
    results = found.results
    yield f"# What {machine['device']} does with this project's nets"
    if asked["size"] == "small":
        where = "a CPU" if machine["device"] == "cpu" else "a GPU"
        yield f"**On {where}, with small nets and batches: it shows that all runs, and is no result about a GPU.**"
    if not finished:
        yield "**Not finished: what is missing was not measured.**"
    yield f"Written by `python -m benchmarks.gpu`, commit {machine['commit']}."
    yield _table(("", ""), [(name.replace("_", " "), str(value)) for name, value in {**machine, **asked}.items()])
    if found.failures:
        yield "## What failed\n\n" + "\n".join(f"* {line}" for line in found.failures)
    if found.skipped:
        yield "## What was left out\n\n" + "\n".join(f"* {name}: {why}" for name, why in found.skipped.items())
    if peak := results.get("peaks"):
        yield "## At best"
        yield _table(
            ("matrix product, bf16", "matrix product, fp32", "copy, read and written"),
            [(_tera(peak["bf16_flops"]), _tera(peak["fp32_flops"]), f"{peak['copy_bytes'] / 1e9:,.1f} GB/s")],
        )
    yield from _steps(_whole(results, "steps"))
    if rows := _whole(results, "loader"):
        yield "## Loader: positions sampled, made into planes and brought to the device"
        yield _table(
            ("", "positions/s", "positions/CPU-s"),
            [(name, _number(r["positions_per_s"]), _number(r["positions_per_cpu_s"])) for name, r in rows.items()],
        )
    if rows := _whole(results, "evaluation"):
        yield "## Evaluation in fp32: positions/s"
        kinds = {
            "channels_last": "net, channels last",
            "contiguous": "net, contiguous",
            "from_games": "with the loader",
        }
        yield _table(
            ("", *kinds.values()),
            [(name, *(_number(r[kind]) if kind in r else "" for kind in kinds)) for name, r in rows.items()],
        )
    if rows := _whole(results, "repeats"):
        yield "## The same steps again"
        yield _table(
            ("", "twice from the start", "resumed half way"),
            [(name, f"the same bits after {r['steps']} steps", "the same bits") for name, r in rows.items()],
        )
    if rows := _whole(results, "beside"):
        yield "## Trials side by side: the net of the budget `cpu`"
        yield _table(
            ("", "samples/s of all", "of the slowest"),
            [(name, _number(r["samples_per_s"]), _number(r["slowest"])) for name, r in rows.items()],
        )


def _steps(rows: Mapping[str, Mapping]) -> Iterable[str]:
    if not rows:
        return
    yield "## Training steps"
    head = (
        "",
        "batch",
        "precision",
        "samples/s",
        "ms a step",
        "of the measured matrix rate",
        "kernels",
        "host ms",
        "peak memory",
    )
    yield _table(
        head,
        [
            (
                name,
                str(r["batch_size"]),
                r["precision"],
                _number(r["samples_per_s"]),
                f"{1e3 * r['seconds']:.2f}",
                f"{r['matrix_share']:.1%}",
                f"{r['kernels']:,.0f}",
                "" if r["host_seconds"] is None else f"{1e3 * r['host_seconds']:.2f}",
                "" if r["peak_bytes"] is None else f"{r['peak_bytes'] / 2**30:.2f} GiB",
            )
            for name, r in rows.items()
        ],
    )
    yield "## Time by kind of kernel"
    yield _table(
        ("", *CLASSES, "busy ms a step"),
        [
            (name, *(f"{r['shares'][kind]:.1%}" for kind in CLASSES), f"{1e3 * r['busy_seconds']:.2f}")
            for name, r in rows.items()
        ],
    )
    yield "## The dearest kernels"
    yield _table(
        ("", "kernel", "kind", "ms a step", "a step"),
        [
            (name, f"`{kernel.replace('|', ' ')[:70]}`", kind, f"{1e3 * seconds:.3f}", f"{count:.0f}")
            for name, r in rows.items()
            for kernel, kind, seconds, count in r["dearest"][:5]
        ],
    )


def _whole(results: Mapping, section: str) -> dict[str, Mapping]:
    return {name: row for name, row in results.get(section, {}).items() if "failed" not in row}


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _tera(flops: float) -> str:
    return f"{flops / 1e12:,.1f} TFLOP/s" if flops > 1e12 else f"{flops / 1e9:,.0f} GFLOP/s"


def _number(value: float) -> str:
    return f"{value:,.0f}"
