"""What of a configuration makes a difference in its run: `whole.effective` puts everything else to its default.

A setting without a rule in `whole.RULES` makes a difference in every run that can have it. No torch.
"""
