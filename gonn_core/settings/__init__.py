"""The parts of `gonn_core.config.TrialConfig`: plain data, checked without torch or kernels."""
