"""What a device does with this project's nets: `python -m benchmarks.gpu --out FOLDER`, one command, a report.

Needs what gonn_core needs and nothing else: torch, numpy, numba, sgfmill, pydantic, safetensors.
"""
