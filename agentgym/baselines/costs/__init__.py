"""What training costs, in memory and time, from the settings alone: the parts of `estimate`.

`shapes` counts a model's weights, `episodes` an episode's tokens, `work` those of a trainer's
`stages`, `memory` the bytes of one process, `machines` the seconds, `total` adds up and says it.
All of it is arithmetic: nothing is loaded or played, and no number here is a measurement of the
machine a plan is made on.
"""
