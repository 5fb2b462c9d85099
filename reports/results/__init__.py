"""The results of trials, read and compared: studies, all runs of a base, effects of a page, costs, nets."""
