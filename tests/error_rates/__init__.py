"""How often the project's own decisions are wrong: every rate of the statistical audit as a simulation.

`made` makes the trials of studies with known effects and shares no code with what judges them; each other module holds
the cases of one question as data, and puts the project's own functions over made trials. `python -m
benchmarks.error_rates` runs them all at full size; the tests here run the most telling ones, smaller.
"""
