"""Wordle: guess a hidden word from the feedback on each letter."""
