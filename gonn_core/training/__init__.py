"""How a net is trained: loss, optimiser, schedule, batches, the step. What a trial directory holds is
`gonn_core.trial`'s matter.

Imports: features, features.targets, files, go, gonn_core, nets, nets.auxiliary, nets.parts, records, settings.
"""
