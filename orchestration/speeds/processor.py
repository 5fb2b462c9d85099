"""What this machine's CPU says of itself, as far as bfloat16 is concerned."""

import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

from gonn_core.errors import printable

CPUINFO = Path("/proc/cpuinfo")
SHOWN_FLAGS = (
    *("avx2", "avx512f", "avx512_bf16", "amx_tile", "amx_bf16"),  # x86
    *("asimd", "bf16", "sve", "svebf16", "sme"),  # Arm
)
MATRIX_UNITS = "amx_bf16"
"""The flag of CPUs on which training in bfloat16 was measured to be faster."""
_MACOS = {"machdep.cpu.brand_string": "model", "hw.optional.arm.FEAT_BF16": "bf16"}


@dataclass(frozen=True)
class Processor:
    """Model in words, and those of SHOWN_FLAGS that it has; told: whether the system tells flags at all."""

    model: str
    flags: tuple[str, ...]
    told: bool

    @property
    def has_matrix_units(self) -> bool:
        """Whether it multiplies matrices of bfloat16 in units of their own."""
        return MATRIX_UNITS in self.flags


def read_processor(cpuinfo: Path = CPUINFO) -> Processor:
    """This machine's: from /proc/cpuinfo (`flags` on x86, `Features` on Arm), of a Mac from sysctl; else its
    architecture alone."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return _from_sysctl()
    told = {name.strip(): value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon}
    flags = told.get("flags", told.get("Features"))
    model = told.get("model name") or platform.processor() or platform.machine() or "unknown"
    return Processor(printable(model, 100), _shown(flags or ""), flags is not None)


def _from_sysctl() -> Processor:
    found = {}
    for name, what in _MACOS.items():
        try:
            answer = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, timeout=5)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if answer.returncode == 0:
            found[what] = answer.stdout.strip()
    model = found.get("model") or platform.processor() or platform.machine() or "unknown"
    return Processor(printable(model, 100), ("bf16",) if found.get("bf16") == "1" else (), "bf16" in found)


def _shown(flags: str) -> tuple[str, ...]:
    there = set(flags.split())
    return tuple(flag for flag in SHOWN_FLAGS if flag in there)
