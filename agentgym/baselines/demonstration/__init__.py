"""The demonstration: every baseline from the same start, on a model small enough for a laptop.

Read on in this order: `experiment` says what is played and with which settings, `start` makes the
demonstrations and the untrained model, `arms` are the trainers' configurations, `run` plays it all,
`statistics` and `show` make the table and the plot.
"""
