"""Studies: from a request to a plan, its trials and its table; what else is asked of trained trials."""
