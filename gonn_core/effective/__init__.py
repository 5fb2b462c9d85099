"""What of a configuration makes a difference in its run: `whole.effective` puts everything else to its default.

Every setting is in `whole.RULES`, which say when it makes none, or in `whole.ALWAYS`. No torch.

Imports: gonn_core, settings, training.
"""
