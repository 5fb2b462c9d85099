"""How a net is trained: loss, optimiser, schedule, batches, the step. What a trial directory holds is
`gonn_core.trial`'s matter.

Imports: compiling, features, features.targets, go, gonn_core, nets, nets.auxiliary, nets.parts, records, settings.
"""
