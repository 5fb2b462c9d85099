"""The net by which machines, and precisions on a machine, are compared."""

from ablations.designs import budget_config
from ablations.expected.table import Expected
from ablations.registry import Registry
from gonn_core.config import TrialConfig


def reference_config(registry: Registry, table: Expected) -> TrialConfig:
    """The base and budget that the table names, in fp32 as they are declared."""
    budget = registry.budget(table.reference_budget)
    assert budget.samples != "claim", "the reference has a number of samples"
    return budget_config(registry.base(table.reference), budget, budget.samples)
