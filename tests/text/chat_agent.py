"""A scripted player that reads the texts of a game and answers in prose, in many ways. It knows nothing else."""

import random
import re

NAMES = {"R": "red", "G": "green", "B": "blue", "O": "orange", "Y": "yellow", "P": "purple"}


def answer(legal: str, rng: random.Random) -> str:
    """Return an answer to the text of the legal moves."""
    tiles = re.search(r"^tiles: (.*)$", legal, re.MULTILINE)
    pairs = re.search(r"^pairs of cells, .*: (.*)$", legal, re.MULTILINE)
    words = re.search(r"^(?:or|answers): (.*)$", legal, re.MULTILINE)
    if words and (not tiles or rng.random() < 0.5):
        word = rng.choice(words[1].split(", "))
        return rng.choice(["{}", "I think I will {} now.", "[{}]", "{}!", '{{"move": "{}"}}']).format(word)
    assert tiles
    assert pairs
    a, b = rng.choice(tiles[1].split(", "))
    first, second = rng.sample(rng.choice(pairs[1].split(", ")).split(), 2)
    forms = [
        f"{a}{b} {first} {second}",
        f"I have thought about it for a while. By now it is clear: {b}{a} on {second} and {first}!",
        f"My move is [{a}{b} {first} {second}], or is it too greedy?",
        f"{NAMES[a]} on {first}, {NAMES[b]} on {second}",
        f"Place the {NAMES[a]}-{NAMES[b]} tile at {first.lower()} {second.lower()}.",
        f'{{"type": "place", "tile": "{a}{b}", "cells": ["{first}", "{second}"]}}',
    ]
    return rng.choice(forms)
