"""The shop as a website, for people: the same products, search and reward as the environment."""
