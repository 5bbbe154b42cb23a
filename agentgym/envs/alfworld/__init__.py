"""ALFWorld: household tasks in a text world; see `env.py`."""
