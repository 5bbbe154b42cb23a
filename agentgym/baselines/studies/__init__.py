"""The papers' experiments, each declared in a few lines and run by one engine.

A study is what a published table or figure compares: its arms, and where the published numbers
stand. Read on in this order: `study` says what a study is, `catalog` which there are, `settings`
what a profile decides, `stages` how arm and profile become a trainer's configuration, `run` trains
them, `results` reads back what they reached. `start` and `prompt` make the small model of the cpu
profile.
"""
