"""The parts of `gonn_core.config.TrialConfig`."""
