"""A device that pretends: tensors have shapes, types and a place, but no numbers, and whoever mixes it with the CPU is
refused as on a GPU.

Written for torch 2.11 to 2.13: a backend in Python is one of torch's private interfaces. Once it is registered, this
process can use no real accelerator and pin no memory, so `tests.rehearsal.process` runs it in one of its own.
"""

from functools import cache

import torch

from gonn_core.errors import UserError
from tests.rehearsal import autocast

NAME = "fakegpu"
DEVICE_INDEX = 0


class NoRehearsal(UserError):
    """This torch cannot pretend to have a device."""


class _Backend:
    """What torch asks of a device's module."""

    @staticmethod
    def is_initialized() -> bool:
        return True

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def current_device() -> int:
        return DEVICE_INDEX

    @staticmethod
    def device_count() -> int:
        return 1

    @staticmethod
    def _is_in_bad_fork() -> bool:
        return False

    @staticmethod
    def manual_seed_all(seed: int) -> None:
        pass

    @staticmethod
    def get_amp_supported_dtype() -> list[torch.dtype]:
        return [torch.bfloat16, torch.float16]


@cache
def pretended_device() -> torch.device:
    """The device, registered with torch when first asked for. Raises NoRehearsal."""
    try:
        from torch._subclasses.fake_tensor import FakeTensor
        from torch.optim import optimizer
        from torch.utils import _foreach_utils
        from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

        _setup_privateuseone_for_python_backend(NAME, backend_module=_Backend())
        _KEPT.extend(autocast.register_cuda_lists())
        _KEPT.append(_register_attention())
        # Tensors without numbers are of another class; on a real device optimisers would take many at a time.
        for kinds in (_foreach_utils._foreach_supported_types, optimizer._foreach_supported_types):
            kinds.append(FakeTensor)
    except (ImportError, AttributeError, RuntimeError) as error:
        problem = str(error).split("\n")[0]
        raise NoRehearsal(f"torch {torch.__version__} cannot pretend to have a device ({problem})") from None
    return torch.device(NAME, DEVICE_INDEX)


_KEPT: list[torch.library.Library] = []
"""What is registered stays only as long as somebody holds it."""

_ALIGNED = 16
"""The memory-efficient kernel wants rows of the mask at multiples of so many numbers; torch pads a copy."""


def _register_attention() -> torch.library.Library:
    library = torch.library.Library("aten", "IMPL")
    for key in ("AutogradPrivateUse1", "PrivateUse1"):
        library.impl("scaled_dot_product_attention", _attention, key)
    return library


def _attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    """What CUDA makes of it: the flash kernel in half precision without a mask, else the memory-efficient one."""
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
