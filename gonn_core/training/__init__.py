"""How a net is trained: loss, optimiser, schedule, batches, the step. Trial directories are `gonn_core.trial`'s."""
