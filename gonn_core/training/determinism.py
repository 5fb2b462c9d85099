"""The same bits on every run of one machine: what torch is told, and the operations that a trial must not use for it.

For whoever follows the operations of a step (torch's dispatch modes), on a device that is not a CPU: `unordered(func,
args, kwargs)` is the reason why an operation may give other bits each time, None for all others; NOT_DETERMINISTIC
holds their names. A step in `deterministic` mode raises where it meets most of them on CUDA; the others torch does not
name. Needs no torch to be imported: runners take `ENVIRONMENT` from here.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from gonn_core.errors import SettingError

_CUBLAS, _TF32 = "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE"
ENVIRONMENT = {_CUBLAS: ":4096:8"}
"""Of every process that trains or evaluates, set before its first use of CUDA: with workspaces of its own for each
stream cuBLAS sums in one order (NVIDIA's cuBLAS documentation, Results Reproducibility)."""

_ATOMIC = "adds with atomic operations, in whatever order they come"
_SCAN = "a parallel scan of floats sums in whatever order its blocks end; a product with a triangle does not"

NOT_DETERMINISTIC: dict[str, str] = {
    **dict.fromkeys(("cumsum", "cumprod", "logcumsumexp"), _SCAN),
    **dict.fromkeys(("cumsum_", "cumprod_"), _SCAN),
    **dict.fromkeys(
        (
            "nll_loss2d",
            "nll_loss2d_forward",
            "avg_pool3d_backward",
            "_adaptive_avg_pool2d_backward",
            "_adaptive_avg_pool3d_backward",
            "adaptive_max_pool2d_backward",
            "adaptive_max_pool3d_backward",
            "fractional_max_pool2d_backward",
            "fractional_max_pool3d_backward",
            "max_pool2d_with_indices_backward",
            "upsample_linear1d_backward",
            "upsample_bilinear2d_backward",
            "upsample_bicubic2d_backward",
            "upsample_trilinear3d_backward",
            "_upsample_bilinear2d_aa_backward",
            "_upsample_bicubic2d_aa_backward",
            "reflection_pad1d_backward",
            "reflection_pad2d_backward",
            "reflection_pad3d_backward",
            "grid_sampler_2d_backward",
            "grid_sampler_3d_backward",
            "_ctc_loss_backward",
            "_cudnn_ctc_loss",
            "_embedding_bag_dense_backward",
            "histc",
            "bincount",
            "index_reduce",
            "index_reduce_",
            "scatter_reduce",
            "scatter_reduce_",
        ),
        _ATOMIC,
    ),
    **dict.fromkeys(("put", "put_", "max_unpool2d", "max_unpool3d"), "of values for one place any may stay"),
    **dict.fromkeys(("median", "nanmedian", "kthvalue"), "of equal values any one's index may be given"),
    **dict.fromkeys(
        ("_scaled_dot_product_cudnn_attention_backward", "_cudnn_attention_backward"),
        "cuDNN's attention adds the gradient of the queries with atomic operations",
    ),
}
"""Operation, by its name among torch.ops.aten -> why its result may differ from run to run on a GPU. Torch's own list
(documentation of torch.use_deterministic_algorithms: what raises), and what has the same cause and is not on it. Some
only with certain arguments: `unordered` knows."""


def unordered(func: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> str | None:
    """Why the operation (torch._ops.OpOverload) may give other bits each time on a GPU; None when it does not.

    Whole numbers have one sum in any order, a maximum is the same whichever was first, and losses that are not reduced
    are not summed.
    """
    name = func._schema.name.partition("::")[2]
    reason = NOT_DETERMINISTIC.get(name)
    if reason is None:
        return None
    values = {argument.name: value for argument, value in zip(func._schema.arguments, args, strict=False)}
    values |= kwargs or {}
    if name.startswith(("cumsum", "cumprod")) and not _of_floats(values):
        return None
    if name.startswith(("scatter_reduce", "index_reduce")) and values.get("reduce") in ("amax", "amin"):
        return None
    if name.startswith("scatter_reduce") and values.get("reduce") in ("sum", "mean"):
        return None  # in this mode by sorting
    if name.startswith("nll_loss2d") and values.get("reduction") == 0:
        return None
    if name == "bincount" and values.get("weights") is None:
        return None
    if name in ("median", "nanmedian") and "dim" not in values:
        return None  # the value alone
    return reason


def _of_floats(values: Mapping[str, Any]) -> bool:
    kind = values.get("dtype") or values["self"].dtype
    return bool(kind.is_floating_point or kind.is_complex)


def make_deterministic(kind: str) -> None:
    """Have torch take deterministic algorithms on devices of this type from now on, or raise where there is none.

    On a CPU too: there the numbers of one thread are the same without, those of several threads are not. Raises
    SettingError where the environment says otherwise and CUDA is under way in this process already.
    """
    import torch

    # "error": a warning alone leaves attention as it is. use_deterministic_algorithms would set the same, and import
    # torch's compiler (over a second) for its setting there, which `compiled_body` makes.
    torch.set_deterministic_debug_mode("error")
    # Nothing reads what it has not written. Torch adds this setting to its module as it runs: its types lack it.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    if kind == "cuda":
        _check_environment(torch.cuda.is_initialized())


def _check_environment(too_late: bool) -> None:
    """Set ENVIRONMENT, or say that it cannot be set any more; that TF32 is not forced upon everything."""
    for name, wanted in ENVIRONMENT.items():
        given = os.environ.get(name)
        if given != wanted and too_late:
            problem = "cuBLAS has started without it in this process, and its sums would differ from run to run"
            raise SettingError(name, given or "", problem, wanted)
        os.environ[name] = wanted
    if os.environ.get(_TF32, "0") != "0":
        raise SettingError(_TF32, os.environ[_TF32], "fp32 would not be fp32", "0, or not set")
