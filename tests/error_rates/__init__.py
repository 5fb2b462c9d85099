"""How often the project's own decisions are wrong, as simulations.

`made` makes the runs of studies with known effects and shares no code with what judges them; each other module holds
the cases of one question as data, and puts the project's own functions over made runs. `python -m
benchmarks.error_rates` runs them all at full size; the tests here run the most telling ones, smaller.
"""
