"""Operations that may give other bits each time on a GPU, although torch runs in deterministic mode."""

REASONS = {
    "cumsum cumprod logcumsumexp cumsum_ cumprod_": "a parallel scan of floats sums in any order",
    "nll_loss2d nll_loss2d_forward _adaptive_avg_pool2d_backward adaptive_max_pool2d_backward "
    "max_pool2d_with_indices_backward upsample_bilinear2d_backward reflection_pad2d_backward grid_sampler_2d_backward "
    "_embedding_bag_dense_backward histc bincount index_reduce index_reduce_ scatter_reduce scatter_reduce_": "atomic "
    "additions in any order",
    "put put_ max_unpool2d": "of values for one place any may stay",
    "median nanmedian kthvalue": "of equal values any one's index may be given",
    "_scaled_dot_product_cudnn_attention_backward _cudnn_attention_backward": "cuDNN adds gradients atomically",
}
BY_NAME = {name: reason for names, reason in REASONS.items() for name in names.split()}


def unordered(func, args=(), kwargs=None) -> str | None:
    """Why an operation (torch._ops.OpOverload) may give other bits each time; None when it does not. Whole numbers have
    one sum in any order, and in deterministic mode scatter_reduce sorts."""
    name = func._schema.name.partition("::")[2]
    values = dict(zip((argument.name for argument in func._schema.arguments), args, strict=False)) | (kwargs or {})
    kind = values.get("dtype") or getattr(values.get("self"), "dtype", None)
    ordered = (
        (name.startswith(("cumsum", "cumprod")) and not kind.is_floating_point)
        or (name.startswith(("scatter_reduce", "index_reduce")) and values.get("reduce") in ("amax", "amin"))
        or (name.startswith("scatter_reduce") and values.get("reduce") in ("sum", "mean"))
        or (name.startswith("nll_loss2d") and values.get("reduction") == 0)
        or (name == "bincount" and values.get("weights") is None)
        or (name in ("median", "nanmedian") and "dim" not in values)
    )
    return None if ordered else BY_NAME.get(name)
