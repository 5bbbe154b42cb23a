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
