"""The pages of the rules for people: alike in all languages, every example and every point drawn, none stale."""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from genial_env.core import kernel
from genial_env.render import pixels
from tests.paths import ROOT
from tests.project.scripts import load_script

DOCS = ROOT / "docs"
PAGES = {"en": DOCS / "how_to_play.md", "fr": DOCS / "regles.md", "de": DOCS / "regeln.md"}
LITTLE_WORDS = {
    "en": {"the", "and", "of", "with", "to", "for"},
    "fr": {"le", "la", "les", "et", "de", "des", "à", "du"},
    "de": {"der", "die", "das", "und", "ein", "mit", "auf", "zu"},
}
NNBSP, NBSP = "\u202f", "\u00a0"

drawer = load_script("draw_rules")
EXAMPLES = [pytest.param(example, id=example["name"]) for example in drawer.EXAMPLES]


@pytest.fixture(scope="module")
def drawings() -> dict[str, str]:
    made: dict[str, str] = drawer.drawings()
    return made


def images(language: str) -> dict[str, str]:
    """The alternative texts of a page's pictures by the names of their files, in the page's order."""
    found = re.findall(r"!\[([^\]]*)\]\(images/rules/([^)]+)\.svg\)", PAGES[language].read_text())
    assert len({name for _, name in found}) == len(found)
    return {name: alt for alt, name in found}


def texts(drawing: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(drawing).iter() if element.tag.endswith("text")]


# The drawings


def test_the_files_are_what_the_generator_makes(drawings: dict[str, str]) -> None:
    """After a change of the renderer or the rules run docs/draw_rules.py."""
    assert {path.stem for path in drawer.IMAGES.iterdir()} == set(drawings)
    for name, drawing in drawings.items():
        assert (drawer.IMAGES / f"{name}.svg").read_bytes() == drawing.encode(), name
    assert sum(map(len, drawings.values())) < 400_000


def test_they_are_pictures_without_words(drawings: dict[str, str]) -> None:
    names = {name for example in drawer.EXAMPLES for name in example.get("scores", {})}
    for name, drawing in drawings.items():
        assert pixels.rgb_array(drawing).shape[1] <= 700, name  # as wide as a page
        assert "aria-label" not in drawing  # that would be in one language
        words = [text for text in texts(drawing) if not re.fullmatch(r"[RGBOYP]|[×+–\d ]+", text)]
        assert set(words) <= names, name


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_shows_its_numbers(example: dict[str, Any], drawings: dict[str, str]) -> None:
    """Those of the rule sheets, though the drawing has them from the kernel."""
    shown = texts(drawings[drawer.file_name(example)])
    if example["kind"] == "score":
        assert sorted(text for text in shown if text.startswith("+")) == sorted(
            f"+{example['points'].get(letter, 0)}" for letter in set(example["tile"])
        )
    elif example["kind"] == "advance":
        assert f"+{example['bonus']}" in shown
        for letter, before in example["before"].items():
            at = shown.index(f"{before} + {example['points'][letter]}")
            assert shown[at + 1 : at + 3] == [str(example["after"][letter]), letter]
    else:
        found = re.findall(r">(\d)</text></svg><text [^>]*>(\w+)<", drawings[drawer.file_name(example)])
        assert {name: int(rank) for rank, name in found} == example["ranks"]


def test_what_the_captions_say_of_the_kernel(drawings: dict[str, str]) -> None:
    """Outcomes that the words beside the drawings tell as well."""
    pending_bonus = [text for text in texts(drawings["bonus-chain"]) if text.startswith("+")]
    assert pending_bonus == ["+1", "+1", "+0"]
    bags = [[text for text in texts(drawings[name]) if len(text) == 3] for name in ("swap-order", "swap-short-rack")]
    assert bags == [["108", "102", "107"], ["108", "102", "105"]]
    yes, no, pole = (
        re.findall(r' d="[^"]*"', piece)[0] for piece in (drawer.sign(True), drawer.sign(False), drawer.flag())
    )
    signs = re.findall(f"{re.escape(yes)}|{re.escape(no)}", drawings["swap-when"])
    assert signs == [yes, no, no]
    assert pole in drawings["full-board"]
    assert {"17 + 5", "18", "+1"} <= set(texts(drawings["double-track"]))


def test_a_first_tile_must_cover_one_of_the_cells_that_stand_out() -> None:
    state = drawer.position(drawer.Rules(), {}, ["RG"] * 6, has_placed=False)
    for tile, first, second in (("RG", (2, -5), (1, -5)), ("BY", (4, -4), (3, -3))):
        t = state.tables
        near = [t.cell_index[cell] for cell in drawer.first_turn_cells(state)]
        covering = np.isin(t.placements, near).any(axis=1)
        free = (state.board[0, t.placements] == -1).all(axis=1)
        assert (kernel.legal_placements(state)[0] == (covering & free)).all()
        state = drawer.lay(state, tile, first, second).after
    assert (kernel.legal_placements(state)[0] == (state.board[0, t.placements] == -1).all(axis=1)).all()


# The pages


def test_every_example_and_every_point_is_drawn_on_every_page(drawings: dict[str, str]) -> None:
    rules = (DOCS / "rules.md").read_text()
    listed = rules.split("Each of these points has a test: ")[1].strip().removesuffix(".").replace("\n", " ")
    assert list(drawer.POINTS) == listed.split(" · ")
    for language in PAGES:
        shown = images(language)
        assert {drawer.file_name(example) for example in drawer.EXAMPLES} <= set(shown)
        assert set(drawer.POINTS.values()) <= set(shown)
        assert set(shown) == set(drawings)


@pytest.mark.parametrize("language", [language for language in PAGES if language != "en"])
def test_pages_are_built_alike(language: str) -> None:
    english, other = (PAGES[each].read_text() for each in ("en", language))
    assert [*images("en")] == [*images(language)]
    built = [re.findall(r"^(#+ (?:\d\. )?|!\[|\|)", page, re.MULTILINE) for page in (english, other)]
    assert built[0] == built[1]  # headings, pictures and tables in the same order
    assert english.count("⚑") == other.count("⚑")
    numbers = [re.findall(r"\d+", re.sub(r"\]\([^)]*\)", "", page)) for page in (english, other)]
    assert sorted(numbers[0]) == sorted(numbers[1])


@pytest.mark.parametrize("language", PAGES)
def test_every_picture_is_told_in_words_of_its_page(language: str) -> None:
    for name, alt in images(language).items():
        words = set(re.findall(r"\w+", alt.lower()))
        assert words & LITTLE_WORDS[language], name
        for other in set(PAGES) - {language}:
            assert not words & LITTLE_WORDS[other], name
            numbers = [re.findall(r"\d+", text) for text in (alt, images(other)[name])]
            assert sorted(numbers[0]) == sorted(numbers[1]), name


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("language", PAGES)
def test_the_words_have_the_example_s_numbers(language: str, example: dict[str, Any]) -> None:
    alt = images(language)[drawer.file_name(example)]
    if example["kind"] == "score":
        said = {f"+{points}" for points in example["points"].values()}
    elif example["kind"] == "advance":
        said = {f"+{example['bonus']}", *map(str, example["before"].values()), *map(str, example["points"].values())}
    else:
        said = set(example["ranks"])
    assert all(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", alt) for word in said), (alt, said)


def test_french_spaces() -> None:
    """Before : a no-break space, before ; ! ? a narrow one, within « » no-break ones; ’ and no straight apostrophe."""
    text = PAGES["fr"].read_text()
    text = re.sub(
        r"\]\([^)]*\)|^!\[|<[^>]*>|^\|[-|]+$", "", text, flags=re.MULTILINE
    )  # links, pictures, rules of tables
    text = text.replace("Génial!", "")  # its name
    assert not re.findall(rf"[^{NNBSP}][;!?]", text)
    assert not re.findall(rf"[^{NBSP}][:»]", text)
    assert not re.findall(rf"«[^{NBSP}]", text)
    assert "'" not in text
    assert '"' not in text


def test_the_page_of_the_game_has_the_same_rules() -> None:
    """After a change of the pages run docs/rules_text.py. The links lead to headings, the drawings exist."""
    maker = load_script("rules_text")
    for language in maker.PAGES:
        assert (maker.TARGET / f"{language}.json").read_text() == maker.write(language)
        elements = list(flatten(maker.to_data(language)))
        links = {attributes["href"][1:] for tag, attributes, *_ in elements if tag == "a"}
        assert links <= {attributes.get("id") for tag, attributes, *_ in elements if tag in ("h2", "h3")}
        drawn = [attributes["src"] for tag, attributes, *_ in elements if tag == "img"]
        assert drawn == [f"{name}.svg" for name in images(language)]


def flatten(elements: Iterable[Any]) -> Iterator[list[Any]]:
    """All elements, also those inside others."""
    for element in elements:
        if isinstance(element, list):
            yield element
            yield from flatten(element[2:])
