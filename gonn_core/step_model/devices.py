"""What data sheets tell of devices: rates of matrix units, of memory, its size.

Rates are dense (no sparsity), of bfloat16 with sums in float32, and of float32 outside the matrix units, for the
project turns TensorFloat-32 off.
"""

import re
from dataclasses import dataclass

from gonn_core.errors import SettingError

_H100 = "NVIDIA H100 Tensor Core GPU data sheet (2023)"
_A100 = "NVIDIA A100 Tensor Core GPU data sheet (2022)"


@dataclass(frozen=True)
class Device:
    """bf16 and fp32: FLOP/s; memory: bytes/s; size: bytes. names: how torch calls it, as patterns of whole names."""

    id: str
    title: str
    names: str
    bf16: float
    fp32: float
    memory: float
    size: float
    source: str


def _device(id, title, names, bf16, fp32, memory, size, source) -> Device:
    """In TFLOP/s, TB/s and GB, as the sheets have them."""
    return Device(id, title, names, bf16 * 1e12, fp32 * 1e12, memory * 1e12, size * 1e9, source)


DEVICES: tuple[Device, ...] = (
    _device("h100", "H100 SXM", r"NVIDIA H100 80GB HBM3", 989.4, 66.9, 3.35, 80, _H100),
    _device("h100-pcie", "H100 PCIe", r"NVIDIA H100 PCIe", 756, 51.2, 2.0, 80, _H100),
    _device("h200", "H200 SXM", r"NVIDIA H200", 989.4, 66.9, 4.8, 141, "NVIDIA H200 Tensor Core GPU data sheet (2024)"),
    _device("a100", "A100 SXM, 80 GB", r"NVIDIA A100-SXM4-80GB", 312, 19.5, 2.039, 80, _A100),
    _device("a100-pcie", "A100 PCIe, 80 GB", r"NVIDIA A100 80GB PCIe", 312, 19.5, 1.935, 80, _A100),
    _device("a100-40gb", "A100, 40 GB", r"(NVIDIA )?A100-(SXM4|PCIE)-40GB", 312, 19.5, 1.555, 40, _A100),
    _device("l40s", "L40S", r"NVIDIA L40S", 362.05, 91.6, 0.864, 48, "NVIDIA L40S data sheet (2023)"),
    _device("l4", "L4", r"NVIDIA L4", 121, 30.3, 0.3, 24, "NVIDIA L4 data sheet (2023), half of the sparse rate"),
    _device("a10", "A10", r"NVIDIA A10", 125, 31.2, 0.6, 24, "NVIDIA A10 data sheet (2021)"),
    _device(
        "rtx4090", "RTX 4090", r"NVIDIA GeForce RTX 4090", 165.2, 82.6, 1.008, 24, "NVIDIA Ada GPU architecture (2022)"
    ),
    _device(
        "rtx3090",
        "RTX 3090",
        r"NVIDIA GeForce RTX 3090",
        71,
        35.6,
        0.936,
        24,
        "NVIDIA Ampere GA102 architecture (2020)",
    ),
    # Turing's matrix units know no bfloat16: such a trial runs there in fp32's units at best.
    _device("t4", "T4", r"(NVIDIA |)Tesla T4", 8.1, 8.1, 0.32, 16, "NVIDIA T4 data sheet (2019); no bfloat16 units"),
)
STANDARD = DEVICES[0]
"""What is estimated for where no device is named and none is here."""


def find_device(id: str) -> Device:
    """Of a name such as `h200` or `RTX 4090`. Raises SettingError, with those that are known."""
    plain = re.sub(r"[^a-z0-9]", "", id.lower())
    for device in DEVICES:
        if plain in (re.sub(r"[^a-z0-9]", "", name.lower()) for name in (device.id, device.title)):
            return device
    raise SettingError("GPU", id, "no device whose data sheet is known here", [device.id for device in DEVICES])


def device_called(name: str) -> Device | None:
    """Of torch's name for it (`torch.cuda.get_device_name`); None where its data sheet is not known here."""
    return next((device for device in DEVICES if re.fullmatch(device.names, name)), None)
