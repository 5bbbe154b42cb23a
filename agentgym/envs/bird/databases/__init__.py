"""The mini edition's databases, a folder each.

A folder holds the tables (`schema.sql`), what the columns mean (`columns.json`), the rows
(`rows.py`), the questions with their gold queries (`questions.json`), and for some questions other
queries that are right and queries that are nearly right (`pairs.json`, for the tests).
"""

NAMES = (
    "school_district",
    "airline_ops",
    "retail_bank",
    "public_library",
    "hospital",
    "solar_utility",
    "racing_series",
    "online_market",
    "chess_club",
    "film_festival",
)
"""The databases in the order of their tasks; it never changes, since task ids follow from it."""

ROWS = {
    "school_district": "872f8d82370f0b4a",
    "airline_ops": "b7a1862f5d03feaf",
    "retail_bank": "061dda9b2b582644",
    "public_library": "8d70b9840a41d04f",
    "hospital": "6d8092bb3f48434b",
    "solar_utility": "1b89e4acd71d5d7f",
    "racing_series": "ed0a59159b0478c5",
    "online_market": "8ad8b039ca5b0df5",
    "chess_club": "46fdd700330c1f2e",
    "film_festival": "7421da3ae0590fc0",
}
"""Digests of the databases' columns and rows: part of the tasks, so that a result names them."""
