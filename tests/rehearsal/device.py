"""A simulated GPU: tensors have shapes, types and a device, but no numbers; an operation on it and the CPU together is
refused as on a GPU. Autocast and attention do what CUDA's do.

Written for torch 2.11 to 2.13: a backend in Python is one of torch's private interfaces. Once it is registered, this
process can use no real accelerator and pin no memory, so `tests.rehearsal` runs in processes of its own.
"""

import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

NAME = "fakegpu"
HEADER = Path(torch.__file__).parent / "include/ATen/autocast_mode.h"
"""Lists the operations that autocast runs on CUDA in the lower precision, in float32, and so on."""
_KEPT: list[torch.library.Library] = []
"""Registrations hold only as long as their library."""
_ALIGNED = 16
"""The memory-efficient kernel wants rows of the mask at multiples of so many numbers; torch pads a copy."""


@cache
def simulated_device() -> torch.device:
    """The device, registered with torch at the first call."""
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.optim import optimizer
    from torch.utils import _foreach_utils
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    backend = SimpleNamespace(
        is_initialized=lambda: True,
        is_available=lambda: True,
        current_device=lambda: 0,
        device_count=lambda: 1,
        _is_in_bad_fork=lambda: False,
        manual_seed_all=lambda seed: None,
        get_amp_supported_dtype=lambda: [torch.bfloat16, torch.float16],
    )
    _setup_privateuseone_for_python_backend(NAME, backend_module=backend)
    _register_autocast()
    library = torch.library.Library("aten", "IMPL")
    for key in ("AutogradPrivateUse1", "PrivateUse1"):
        library.impl("scaled_dot_product_attention", _attention, key)
    _KEPT.append(library)
    # Tensors without numbers are of another class; on a real device optimisers would take many at a time.
    for kinds in (_foreach_utils._foreach_supported_types, optimizer._foreach_supported_types):
        kinds.append(FakeTensor)
    return torch.device(NAME, 0)


def _register_autocast() -> None:
    """Torch registers its lists for CUDA in C++; a device made in Python has none."""
    others, aten = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
    others.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    _KEPT.extend((others, aten))
    text = HEADER.read_text(encoding="utf-8")
    kinds = {"LOWER_PRECISION_FP": _lower, "FP32": _float32, "FP32_SET_OPT_DTYPE": _float32_result, "PROMOTE": _widest}
    for macro, wrapped in kinds.items():
        body = re.search(rf"#define AT_FORALL_{macro}\(_\)(.*?)\n\n", text, re.DOTALL)
        assert body is not None
        for packet, overload in re.findall(r"_\((\w+)(?:,\s*(\w+))?\)", body.group(1)):
            operation = getattr(getattr(torch.ops.aten, packet), overload or "default")
            name = packet + ("." + overload if overload else "")
            aten.impl(name, _without_autocast(wrapped, operation), "AutocastPrivateUse1")


def _without_autocast(wrapped, operation: torch._ops.OpOverload):
    key = torch._C.DispatchKey.AutocastPrivateUse1  # type: ignore[attr-defined]  # torch's types lack the key
    keys = torch._C.DispatchKeySet(key)

    def call(*arguments, **named):
        with torch._C._ExcludeDispatchKeyGuard(keys):
            return wrapped(operation, arguments, named)

    return call


def _is_eligible(value: Any) -> bool:
    floating = isinstance(value, Tensor) and value.is_floating_point() and value.dtype != torch.float64
    return floating and value.device.type not in ("cpu", "meta")


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_cast(item, dtype) for item in value)
    return value.to(dtype) if _is_eligible(value) and value.dtype != dtype else value


def _called(operation, arguments, named, dtype: torch.dtype) -> Any:
    return operation(*(_cast(value, dtype) for value in arguments), **{k: _cast(v, dtype) for k, v in named.items()})


def _lower(operation, arguments, named):
    return _called(operation, arguments, named, torch.get_autocast_dtype(torch._C._get_privateuse1_backend_name()))


def _float32(operation, arguments, named):
    return _called(operation, arguments, named, torch.float32)


def _float32_result(operation, arguments, named):
    values = dict(zip((argument.name for argument in operation._schema.arguments), arguments, strict=False)) | named
    if _is_eligible(arguments[0]) and values.get("dtype") is None:
        values["dtype"] = torch.float32
    return operation(**values)


def _widest(operation, arguments, named):
    dtypes = {value.dtype for value in (*arguments, *named.values()) if _is_eligible(value)}
    if len(dtypes) < 2:
        return operation(*arguments, **named)
    return _called(operation, arguments, named, torch.float32)


def _attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    """As CUDA: the flash kernel in half precision without a mask, else the memory-efficient one."""
    aten = torch.ops.aten
    if attn_mask is None and query.dtype in (torch.bfloat16, torch.float16):
        kernel = aten._scaled_dot_product_flash_attention.default
        return kernel(query, key, value, dropout_p, is_causal, scale=scale)[0]
    if attn_mask is not None:
        length = key.shape[-2]
        padded = torch.nn.functional.pad(attn_mask, (0, -length % _ALIGNED))[..., :length]
        attn_mask = padded.expand(*query.shape[:-1], length)
    needs_gradient = torch.is_grad_enabled() and any(x.requires_grad for x in (query, key, value))
    kernel = aten._scaled_dot_product_efficient_attention.default
    return kernel(query, key, value, attn_mask, needs_gradient, dropout_p, is_causal, scale=scale)[0]
