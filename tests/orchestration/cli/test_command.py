"""Bad settings of the `gonn` command: one line with the setting, the value and the valid ones, code 2, and nothing
done."""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from importlib.metadata import version

import click
import pytest

from ablations.data.schema import dataset_names
from ablations.settings import STUDY, option
from orchestration.catalogue import generated
from orchestration.cli import command as cli
from orchestration.cli.help import EXAMPLES, SECTIONS, all_commands
from orchestration.runners import gpus
from tests.paths import ROOT

DATA = ", ".join(dataset_names())
OPTIONS = [option(name) for name in STUDY if name != "NAME"]
FIVE = "parametric_relu,global_pooling_head,dilated_convolutions,stem_kernel_5x5,batchnorm_gamma"


@pytest.fixture
def gonn(tmp_path, monkeypatch, capsys):
    """Runs a command line in an empty workspace; returns (code, stdout, stderr)."""
    for name in ("GONN_DATA", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return cli.run([str(argument) for argument in arguments]), *capsys.readouterr()

    return run


@pytest.mark.parametrize("words, line", [
    ("plan elu --seeds x", "SEEDS=x: not a number of seeds; valid: a number from 1 to 100, "),
    ("plan elu --seeds 0", "SEEDS=0: "),
    ("plan elu --samples 25k,x", "SAMPLES=25k,x: not numbers of samples; valid: "),
    ("plan parametric_relu --samples 1k", "SAMPLES=1000: gonn-b5 warms up over 1,600 samples"),
    ("plan elu --budget huge", "BUDGET=huge: no such budget; valid: cpu, gpu, paper, smoke"),
    ("plan elu --design all", "DESIGN=all: not a known design; valid: add-one, leave-one-out, cumulative, factorial, "),
    ("plan elu --device tpu", "DEVICE=tpu: no such device; valid: auto, cpu, cuda"),
    ("plan elu --compile fast", "COMPILE=fast: no such compile; valid: none, body, graphs"),
    ("plan elu --compile graphs --device cpu", "COMPILE=graphs: "),
    ("plan elu --data nowhere", f"DATA=nowhere: not a known data set, and no such file or folder; valid: {DATA}"),
    ("plan elu --nosuch", f"--nosuch: no such option; valid: {', '.join(OPTIONS)}"),
    ("plan elu \x1b[2J", "Got unexpected extra argument (\\x1b[2J)"),
    ("plan elu,elu", "NAME=elu,elu: an enhancement is named twice; valid: "),
    ("plan elu --base gonn-b6", "BASE=gonn-b6: no such base; valid: gonn-b"),
    (f"plan {FIVE} --design factorial", "DESIGN=factorial: 5 enhancements make 32 arms; valid: at most 4 enhancements"),
    ("ablate elu --runner slurm", "RUNNER=slurm: no such runner; valid: ray, local"),
    ("ablate elu --runner local --address 10.0.0.1:6379", "RAY_ADDRESS=10.0.0.1:6379: RUNNER=local uses no cluster"),
    ("show \x1b[31m[red]<b>`", "NAME=\\x1b[31m[red]<b>`: no such enhancement; valid: `make list` shows"),
    ("ui --port 80000", "PORT=80000: out of range; valid: 1 to 65535"),
    ("ui --port http", "PORT=http: not a whole number; valid: 1 to 65535"),
    ("train", "BASE: not given; for example BASE=gonn-b5; "),
    ("train gonn-b5 --set net", "--set=net: not a setting; valid: PATH=VALUE"),
    ("train gonn-b5 --set net.activation=gelu", "--set.net.activation=gelu: not a valid value; valid: 'relu', 'prelu'"),
    ("train gonn-b5 --set net.activation=[1", "--set net.activation=[1: not a YAML value"),
    ("train gonn-b5 --from ab", "--from=ab: no such trial in "),
    ("train gonn-b5 --from ab.safetensors", "ab.safetensors: no such file"),
    ("list draughts", "FIND=draughts: "),
    ("list --topic hea", "TOPIC=hea: no such topic; valid: input, block, head, loss, optimiser, data, schedule"),
    ("evaluate", "STUDY: not given; usage: gonn evaluate [OPTIONS] STUDY"),
    ("evaluate x", "STUDY=x: no such study; valid: none yet: make ablation NAME=… makes one"),
    ("evaluate x --split train", "SPLIT=train: no such split; valid: validation, test"),
    ("data fetch gogod", "DATA=gogod: cannot be downloaded; valid: kgs"),
    ("data fetch", "--data-dir=: no data folder given; valid: "),
    ("data fetch --data-dir . --years now", "--years=now: not a list of years; valid: "),
    ("elo nothing", "BASE=nothing: "),
    ("rate abc", "MATCH=abc: no such match; valid: none yet"),
    ("data drop", "gonn data drop: no such command; valid: build, fetch, list, selfplay"),
    ("data build --data-dir", "Option '--data-dir' requires an argument."),
])  # fmt: skip
def test_a_bad_setting_is_one_line_and_nothing_is_done(gonn, tmp_path, words, line):
    code, out, err = gonn(*words.split(" "))
    assert (code, out, err.count("\n")) == (2, "", 1) and err.startswith(line)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", [["show"], ["plan"], ["ablate"], ["plan", "--design", "screen"], ["search", "run"]])
def test_a_name_that_is_missing(gonn, verb):
    code, out, err = gonn(*verb)
    assert (code, out) == (2, "") and err.count("\n") == 1 and err == gonn(*verb, "")[2]
    assert err.startswith("NAME: not given; for example NAME=") and "`make list`" in err
    if verb != ["search", "run"]:
        assert err.count("NAME=") == 3


@pytest.mark.parametrize("arguments", [["ablate", "parametric_relu"], ["sync"], ["ui"]])
@pytest.mark.parametrize("uri, shown", [("ftp://me:secret@host/x", "ftp://***@host/x"), ("databricks", "databricks")])
def test_tracking_uris_that_mlflow_cannot_use(gonn, tmp_path, monkeypatch, arguments, uri, shown):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    code, out, err = gonn(*arguments)
    assert (code, out) == (2, "") and err.startswith(f"MLFLOW_TRACKING_URI={shown}: ") and "secret" not in err
    assert not list(tmp_path.iterdir())


def test_a_device_that_is_not_there_stops_before_any_work(gonn, tmp_path, monkeypatch):
    monkeypatch.setattr(gpus, "visible_gpus", lambda: gpus.Gpus(()))
    for command in (["ablate", "parametric_relu"], ["train", "gonn-b5"]):  # a plan tells of one that is not here
        assert gonn(*command, "--device", "cuda")[2].startswith("DEVICE=cuda: PyTorch finds no CUDA device here")
    assert not list(tmp_path.iterdir())


def test_a_port_in_use(gonn):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, out, err = gonn("ui", "--port", port)
    assert (code, out) == (2, "") and err.startswith(f"PORT={port}: cannot listen there")


def test_an_empty_workspace_says_what_to_do(gonn, tmp_path):
    said = f"no studies in {tmp_path / 'studies'}; make ablation NAME=… runs one\n"
    assert gonn("status") == gonn("report") == (0, said, "")


def test_a_workspace_that_is_no_folder(gonn, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GONN_HOME", str(tmp_path / "file"))
    assert gonn("data", "build") == (2, "", f"{tmp_path}/file/stores/index: cannot write (Not a directory)\n")


def test_study_files_that_cannot_be_read(gonn, tmp_path, caplog):
    file = tmp_path / "studies" / "old" / "study.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"format": 99}')
    assert gonn("status") == (2, "", f"{file}: study file of format 99; this version reads format 1\n")
    file.write_text("hello")
    code, said, _ = gonn("report")
    assert code == 0 and said.startswith("no studies in ")
    assert [line.startswith(f"{file}: not a JSON file (") for line in caplog.messages] == [True]


def test_what_is_there_to_compare(gonn):
    code, out, err = gonn("list")
    assert code == 0 and err == "" and "Parametric ReLU" in out and "kgs, committed" in out
    headings = [line.split(" (")[0] for line in out.splitlines() if re.match(r"[a-z]+ \(\d+\): ", line)]
    assert headings == ["input", "block", "head", "loss", "optimiser", "data", "schedule"]
    code, out, _ = gonn("list", "--bases")
    assert code == 0 and "gonn-b5, gonn-published-5b" in out and "3,597,792" in out
    code, out, _ = gonn("show", "parametric_relu")
    assert code == 0 and "net.activation" in out and "gonn_sandbox: Parametric ReLUs (Feb 2018)" in out
    code, out, _ = gonn("data", "list")
    assert code == 0 and "GNU Go self-play (bundled)" in out
    assert gonn()[1] == gonn("--help")[1]


def test_the_version_is_that_of_the_installed_project(gonn):
    assert gonn("--version") == (0, f"gonn {version('go-move-ablations')}\n", "")


COMMANDS = dict(all_commands(cli.gonn))


def test_examples_are_of_verbs_and_can_be_typed():
    assert set(EXAMPLES) <= set(COMMANDS)
    for path, lines in EXAMPLES.items():
        for line in lines:
            program, *words = shlex.split(line.replace("\\\n", ""))
            assert program == "gonn" and " ".join(words).startswith(path), line
            command, context = cli.gonn, None
            while isinstance(command, click.Group):  # names, options and values as click reads them; nothing is run
                _, command, words = command.resolve_command(click.Context(command), words)
            context = command.make_context(line, words)
            assert context.command is command


def test_every_verb_is_in_a_section(gonn):
    out = gonn("--help")[1]
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(cli.gonn.commands)
    assert [line[:-1] for line in out.splitlines() if line[:1].isupper() and line.endswith(":")] == [
        "Options",
        *SECTIONS,
    ]


def test_the_process_ends_with_the_code_and_without_a_traceback(tmp_path):
    environment = {**os.environ, "GONN_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "orchestration.cli"]
    bad = subprocess.run(
        [*command, "show", "parametric_rlu"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert bad.returncode == 2 and bad.stdout == "" and bad.stderr.startswith("NAME=parametric_rlu: ")
    reader_left = subprocess.run(
        f"{sys.executable} -m orchestration.cli list | true",
        shell=True,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert reader_left.stderr == ""
    assert not list(tmp_path.iterdir())


FULL = """
mount -t tmpfs -o size=2m none "$GONN_HOME" || exit 99
"$PYTHON" -m orchestration.cli data build; code=$?
find "$GONN_HOME" -type f ! -name "*.lock"
exit $code
"""


@pytest.mark.skipif(
    shutil.which("unshare") is None or not hasattr(os, "geteuid") or os.geteuid() != 0,
    reason="only root mounts a small disk",
)
def test_a_full_disk_is_one_line_and_nothing_is_left(tmp_path):
    environment = {**os.environ, "GONN_HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PYTHON": sys.executable}
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", FULL], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    if done.returncode == 99 or done.stderr.startswith("unshare:"):
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    line = (
        f"{tmp_path}/stores: no space left (No space left on device); nothing was kept; "
        "free space or choose another folder\n"
    )
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.endswith(line) and "Traceback" not in done.stderr


def test_check_reads_every_declaration_and_names_what_is_out_of_date(gonn, monkeypatch):
    monkeypatch.setattr(generated, "MADE_BY_TESTS", {})  # these have tests of their own
    assert gonn("check")[::2] == (0, "")
    monkeypatch.setattr(generated, "docs_table", lambda: "another table\n")
    monkeypatch.setattr(generated, "base_header", lambda name, trials: "# another\n")
    code, out, err = gonn("check")
    assert (code, err) == (1, "") and "docs/settings.md" in out and "ablations/bases/gonn-b5.yaml" in out
    assert "README.md" not in out and "Makefile" not in out
