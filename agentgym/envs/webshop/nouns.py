"""The nouns of a product's title, which say what kind of thing it is.

The published reward takes them from spaCy's `en_core_web_lg`: the tokens tagged NOUN or PROPN. That
model is half a gigabyte, comes from no package index, and tags the same title differently from
version to version. The default here is a rule that was held against such a model: in a title nearly
every capitalized word is tagged as a name, whatever it means, so all of them are nouns but function
words and numbers; a word in lower case is one unless it is a participle, an adverb or one of the
adjectives that titles are full of. How often the two agree, and what it does to the reward, is in
the README; which of them is used is an option of the environment, and so in every record.

`spacy_nouns` is the published way, for those who have the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from agentgym.core.errors import InvalidConfig
from agentgym.core.extras import installed
from agentgym.envs.webshop.words import words

Nouns = Callable[[str], tuple[str, ...]]
"""Returns the nouns of a title in order, lower case, repetitions kept."""

MODEL = "en_core_web_lg"
TAGGERS = ("rules", "spacy")

# spaCy cuts a title at spaces and punctuation, but keeps abbreviations ("D.o.n.") whole.
_TOKEN = re.compile(r"[^\W\d_](?:\.[^\W\d_])+\.?|[^\W_]+(?:[.,]\d+)*")

_FUNCTION = frozenset(words("function"))
_ADJECTIVES = frozenset(words("adjectives"))
_ADJECTIVE_ENDINGS = ("less", "able", "ible", "ful", "proof", "free", "ish")
_NOUNS_LIKE_PARTICIPLES = frozenset(words("nouns"))


@lru_cache(maxsize=20_000)
def rule_nouns(title: str) -> tuple[str, ...]:
    """Return the nouns of a title by rule.

    >>> rule_nouns("Saireed UL Listed 2 Prong Power Cord for JBL Bar 3.1")
    ('saireed', 'ul', 'prong', 'power', 'cord', 'jbl', 'bar')
    """
    return tuple(token.lower() for token in _TOKEN.findall(title) if _is_noun(token))


def _is_noun(token: str) -> bool:
    word = token.lower()
    if not word[0].isalpha() or word in _FUNCTION:
        return False
    if token[0].isupper() or word in _NOUNS_LIKE_PARTICIPLES:
        return True
    if word in _ADJECTIVES:
        return False
    if len(word) < 5 or word.endswith("eed"):
        return True
    return not word.endswith(("ed", "ing", "ly", *_ADJECTIVE_ENDINGS))


def spacy_nouns() -> Nouns:
    """Return the published way of finding nouns.

    Raises:
        InvalidConfig: if spaCy or its model is not installed.
    """
    return _spacy()


@cache
def _spacy() -> Nouns:
    if not installed("spacy") or not installed(MODEL):
        raise InvalidConfig(
            f"title_nouns='spacy' needs spaCy and its model: pip install spacy, then "
            f"python -m spacy download {MODEL}. title_nouns='rules' needs neither"
        )
    import spacy  # type: ignore[import-not-found,unused-ignore]

    tagger: Any = spacy.load(MODEL)

    @lru_cache(maxsize=20_000)
    def nouns(title: str) -> tuple[str, ...]:
        return tuple(t.text.lower() for t in tagger(title) if t.pos_ in ("NOUN", "PROPN"))

    return nouns


def tagger(name: str) -> Nouns:
    """Return the way of finding nouns that an option names.

    Raises:
        InvalidConfig: if there is none of this name, or its model is not installed.
    """
    if name not in TAGGERS:
        raise InvalidConfig(f"title_nouns must be one of {', '.join(TAGGERS)}, got {name!r}")
    return rule_nouns if name == "rules" else spacy_nouns()
