"""How long a training step takes on a device that is not here: from its operations, bytes and kernels, counted by a
rehearsal, and what data sheets tell of the device. Estimates, not measurements.

Imports: gonn_core, rehearsal.
"""
