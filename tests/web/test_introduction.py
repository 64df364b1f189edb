"""The introduction and the rules on the page."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from genial_env.core.tables import tables
from genial_env.web import make_app
from genial_env.web._introduction import BOARD, LESSONS, RULES
from genial_env.web._page_files import DRAWINGS
from tests.conftest import slow
from tests.served import Browser, served


def cell(q: int, r: int) -> int:
    return tables(RULES).cell_index[q, r]


BETWEEN = [cell(0, 0), cell(1, 0)]
"""The two cells between two red and three blue symbols."""


def lesson(browser: Browser, name: Any, *decisions: Any, status: int = 200) -> dict[str, Any]:
    answer = browser.post("/api/introduction", json={"lesson": name, "decisions": decisions})
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_lessons_are_played_by_the_rules() -> None:
    with served(make_app()) as address:
        browser = Browser(address)
        begun = lesson(browser, "score")
        assert begun["choice"]["pairs"]
        assert sum(letter != "." for letter in begun["position"]["board"]) == len(BOARD) + 6
        laid = lesson(browser, "score", {"slot": 0, "cells": BETWEEN})
        assert laid["moves"][0]["points"] == {"R": 2, "B": 3}
        assert "choice" not in laid

        bonus = lesson(browser, "bonus", {"slot": 0, "cells": BETWEEN})
        assert (bonus["position"]["phase"], bonus["position"]["scores"][0][0]) == ("bonus", RULES.top)
        more = lesson(browser, "bonus", {"slot": 0, "cells": BETWEEN}, {"slot": 1, "cells": [0, 1][::-1]}, status=422)
        assert more["code"] == "illegal_action"  # on a printed symbol

        swapped = lesson(browser, "swap", {"word": "swap"})
        assert swapped["moves"][0]["tiles"] == list(LESSONS["swap"].rack)
        assert len(swapped["position"]["racks"][0]) == RULES.rack

        for name, *decisions in (("none",), (None,), ("score", 1), ("score", {"slot": 0}), ("score", *[{}] * 7)):
            assert lesson(browser, name, *decisions, status=400)["code"] == "invalid_request"
        assert lesson(browser, "lowest", *[{"slot": 0, "cells": BETWEEN}], status=422)["code"] == "illegal_action"
        over = [{"slot": 0, "cells": BETWEEN}, {"word": "decline"}]
        assert lesson(browser, "score", *over, status=409)["code"] == "no_person_to_play"


def test_drawings_are_served() -> None:
    with served(make_app()) as address:
        answer = Browser(address).get("/static/rules/start.svg")
        assert answer.content == (DRAWINGS / "start.svg").read_bytes()
        assert answer.headers["content-type"].startswith("image/svg+xml")


def button(page: Page, words: str) -> Any:
    return page.get_by_role("button", name=words, exact=True)


def at(page: Page, number: int) -> Any:
    return page.locator(f'.cell[data-cell="{number}"]')


@slow
def test_the_introduction_by_clicks(open_page: Callable[..., Page]) -> None:
    page = open_page(locale="fr-FR", viewport={"width": 390, "height": 844})
    page.get_by_role("link", name="S’initier en deux minutes").click()
    heading, words = page.locator(".lesson h1"), page.locator(".lesson p").first
    expect(heading).to_contain_text("1 sur 4")
    page.locator(".my-rack button").first.click()
    at(page, cell(0, -3)).click()
    button(page, "Poser").click()
    expect(words).to_contain_text("meilleures places")
    button(page, "Réessayer").click()
    page.locator(".my-rack button").first.click()
    at(page, BETWEEN[0]).click()
    expect(page.locator(".points text")).to_have_text(["2", "3"])
    button(page, "Poser").click()
    expect(words).to_contain_text("lignes droites")
    expect(page.locator(".panel .count").first).to_have_text("5")
    button(page, "Suivant").click()

    expect(heading).to_contain_text("2 sur 4")
    page.locator(".my-rack button").first.click()
    at(page, BETWEEN[0]).click()
    expect(page.locator(".preview")).to_contain_text("une pose bonus")
    button(page, "Poser").click()
    expect(words).to_contain_text("une tuile de plus")
    page.locator(".my-rack button").first.click()
    at(page, cell(0, -3)).click()
    button(page, "Poser").click()
    expect(words).to_contain_text("on pioche")
    button(page, "Suivant").click()

    expect(heading).to_contain_text("3 sur 4")
    button(page, "Vous").click()
    expect(words).to_contain_text("le plus bas de chacun")
    button(page, "Réessayer").click()
    button(page, "greedy").click()
    expect(words).to_contain_text("8 l’emporte sur 6")
    button(page, "Suivant").click()

    expect(heading).to_contain_text("4 sur 4")
    button(page, "Échanger toutes les tuiles").click()
    expect(words).to_contain_text("six nouvelles tuiles")
    expect(page.locator(".my-rack button")).to_have_count(6)
    page.get_by_role("link", name="Nouvelle partie").click()
    expect(page.locator(".seats select")).to_have_count(2)


@slow
def test_the_introduction_by_keys(open_page: Callable[..., Page]) -> None:
    page = open_page("/#/introduction")
    expect(page.locator(".my-rack button")).to_have_count(1)
    page.keyboard.press("1")
    expect(page.locator("#announce")).to_contain_text("in hand")
    page.keyboard.press("ArrowLeft")  # to the cell in the middle, between two red and three blue symbols
    expect(page.locator(".preview")).to_contain_text("E5")
    page.keyboard.press("Enter")
    expect(button(page, "Lay it")).to_be_enabled()
    page.keyboard.press("Escape")
    expect(button(page, "Lay it")).to_be_disabled()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(button(page, "Next")).to_be_focused()


@slow
@pytest.mark.parametrize(("locale", "title"), [("en-US", "The box"), ("fr-FR", "La boîte"), ("de-DE", "Das Material")])
def test_the_rules(open_page: Callable[..., Page], locale: str, title: str) -> None:
    page = open_page(locale=locale, viewport={"width": 390, "height": 844})
    page.locator("nav a[href='#/rules']").click()
    expect(page.locator(".rules h2").first).to_have_text(title)
    expect(page.locator(".rules .hint")).to_have_count(0)
    pictures = page.locator(".rules img")
    drawings = len(list(DRAWINGS.glob("*.svg")))
    expect(pictures).to_have_count(drawings)
    page.locator(".rules p a[href='#/rules']").first.click()
    expect(page.locator(":focus")).to_have_text(re.compile("Editions|Selon le livret|Ausgaben"))
    for picture in pictures.all():
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("complete", True)
        assert picture.evaluate("picture => picture.naturalWidth") > 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@slow
def test_a_language_without_rules_of_its_own_shows_the_english_ones(open_page: Callable[..., Page]) -> None:
    page = open_page(locale="de-DE")
    script = page.request.get(f"{page.url.split('#')[0]}static/rules.js").text()
    without = script.replace(', "de"]', "]")
    assert without != script
    page.route("**/static/rules.js", lambda route: route.fulfill(body=without, content_type="text/javascript"))
    page.reload()
    page.locator("nav a[href='#/rules']").click()
    expect(page.locator(".rules h2").first).to_have_text("The box")
    expect(page.locator(".rules .hint")).to_contain_text("English")
