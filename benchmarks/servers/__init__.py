"""Servers that benchmarks/serve.py starts, each in a process of its own."""
