"""How a net is trained: loss, optimiser, schedule, batches, the step. What a trial directory holds is
`gonn_core.trial`'s matter.
"""
