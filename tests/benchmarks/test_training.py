"""`python -m benchmarks.training`: what it says of a machine, its table, and a short run of all of it."""

import re

import pytest

from benchmarks.training import COMPILED, PLAIN, machine_lines, main, print_steps


def test_machine_and_its_flags(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("model name\t: Some CPU\nflags\t\t: fpu avx2 avx512f avx512_bf16 amx_tile\n")
    named, flags = machine_lines(cpuinfo)
    assert named == "Some CPU, AVX-512, AVX-512 bf16, AMX"
    assert flags.startswith("flags: avx2 yes, avx512f yes, avx512_bf16 yes, amx_bf16 no; torch ")
    assert machine_lines(tmp_path / "none")[1].startswith("flags: unknown; torch ")


def test_when_compiling_has_paid(capsys):
    """Twice as fast at 100 samples/s saves 5 ms a sample: 10 s are paid for by 2,000 samples. What is slower never
    pays."""
    rates = {PLAIN[0]: [100.0], COMPILED[0]: [200.0], PLAIN[1]: [150.0], COMPILED[1]: [140.0]}
    print_steps(rates, {COMPILED[0]: (10.0, 1.0), COMPILED[1]: (10.0, 1.0)})
    lines = [re.split(r"  +", line) for line in capsys.readouterr().out.splitlines()]
    assert lines[2][0] == "fp32, compiled" and lines[2][-1] == "10.0, 1.0; 2,000, 200 samples"
    assert lines[4][-1] == "10.0, 1.0; never, never samples"


@pytest.mark.system
def test_a_short_run_without_a_compiler(monkeypatch, capsys):
    import torch._inductor.config  # noqa: F401  reads the compiler's name once a process, for other tests too

    monkeypatch.setenv("CXX", "no-such-compiler")
    main(["--short"])
    out = capsys.readouterr().out
    assert "fp32, compiled" not in out and "compiler: none (" in out
    assert {line.split()[0] for line in out.partition("trials")[2].splitlines()[1:3]} == {"fp32", "bf16"}
