"""What autocast does on CUDA, said again for the device that pretends: which operations it runs in the lower precision,
which in float32.

The lists are those of torch 2.13 (ATen/autocast_mode.h); a test compares them with the header of the torch that is
there. torch registers them for CUDA in C++; a device made in Python has none.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


LOWER = _names("""
    _convolution.deprecated _convolution conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d.input
    conv_transpose3d.input convolution prelu addmm addmv addr matmul einsum mm mv linalg_vecdot linear addbmm baddbmm
    bmm chain_matmul linalg_multi_dot _thnn_fused_lstm_cell _thnn_fused_gru_cell lstm_cell gru_cell rnn_tanh_cell
    rnn_relu_cell _scaled_dot_product_flash_attention scaled_dot_product_attention
""")
"""Operations whose float32 arguments become bfloat16."""

FLOAT32 = _names("""
    acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow.Tensor_Scalar pow.Tensor_Tensor
    pow.Scalar softplus layer_norm native_layer_norm rms_norm group_norm frobenius_norm.dim nuclear_norm
    nuclear_norm.dim cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss
    kl_div l1_loss smooth_l1_loss huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss
    triplet_margin_loss multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp
    upsample_nearest1d _upsample_nearest_exact1d upsample_nearest2d _upsample_nearest_exact2d upsample_nearest3d
    _upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d _upsample_bilinear2d_aa upsample_trilinear3d
    upsample_bicubic2d _upsample_bicubic2d_aa
""")
"""Operations whose bfloat16 arguments become float32."""

FLOAT32_RESULT = _names("""
    prod prod.dim_int softmax.int log_softmax.int cumprod cumsum linalg_vector_norm linalg_matrix_norm
    linalg_matrix_norm.str_ord sum sum.dim_IntList
""")
"""Operations that give float32 unless they are told a type."""

WIDEST = _names("""
    addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add
""")
"""Operations whose arguments get the widest type among them."""

_KEY = "AutocastPrivateUse1"


def register_cuda_lists() -> list[torch.library.Library]:
    """Register the lists for the device made in Python. They hold as long as the libraries that are returned."""
    others, aten = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
    others.fallback(torch.library.fallthrough_kernel, _KEY)
    kinds = ((LOWER, _lower), (FLOAT32, _float32), (FLOAT32_RESULT, _float32_result), (WIDEST, _widest))
    for names, wrapped in kinds:
        for name in names:
            aten.impl(name, _without_autocast(wrapped, overload(name)), _KEY)
    return [others, aten]


def overload(name: str) -> torch._ops.OpOverload:
    """The operation of a name such as `conv2d` or `pow.Scalar`."""
    packet, _, which = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), which or "default")


def _without_autocast(wrapped: Callable, operation: torch._ops.OpOverload) -> Callable:
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


def _called(operation: torch._ops.OpOverload, arguments: Iterable, named: dict, dtype: torch.dtype) -> Any:
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
