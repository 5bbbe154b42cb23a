"""BIRD: questions to answer in SQL, over real databases that can only be read."""
