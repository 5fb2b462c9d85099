from tests.error_rates import groups
CASES=[*groups.CASES]
