"""axe-core finds no violation on any screen, in light and dark, in every language.

It is a package of npm that `.ci/javascript` installs. Without it these tests are skipped.
"""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from genial_env import Rules, play
from genial_env.records import to_json_line
from tests.conftest import slow
from tests.paths import ROOT
from tests.served import Browser

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"

pytestmark = [
    slow,
    pytest.mark.skipif(not AXE.exists(), reason="needs axe-core: run .ci/javascript, which installs it"),
]


def violations(page: Page) -> list[str]:
    """What axe-core finds, as sentences with the elements."""
    page.evaluate(AXE.read_text())
    found: list[dict[str, Any]] = page.evaluate("axe.run().then(({ violations }) => violations)")
    return [f"{each['id']}: {each['help']}: {[node['html'][:200] for node in each['nodes'][:3]]}" for each in found]


def show_start(page: Page) -> None:
    expect(page.locator(".games li")).to_have_count(1)
    for summary in page.locator("form details summary").all():
        summary.click()
    page.locator(".menu summary").click()


def show_game(page: Page) -> None:
    page.locator(".games a").first.click()
    page.locator(".my-rack button").first.click()
    page.locator(".unseen-tiles summary").click()


def show_review(page: Page) -> None:
    page.goto(f"{page.url.split('#')[0]}#/replay")
    records = play(["greedy", "random"], Rules(2, side=4), seed=4, record=True).records
    assert records is not None
    line = to_json_line(records[0]).encode()
    page.set_input_files("input[type=file]", {"name": "game.jsonl", "mimeType": "text/plain", "buffer": line})
    page.locator(".report select").first.select_option("fast")
    page.locator(".report button").click()
    expect(page.locator(".chart")).to_be_visible()
    page.locator(".blunders button, ol.moves button").first.click()
    page.locator("figure summary").click()


def show_rules(page: Page) -> None:
    page.goto(f"{page.url.split('#')[0]}#/rules")
    expect(page.locator(".rules img").first).to_be_visible()


def show_introduction(page: Page) -> None:
    page.goto(f"{page.url.split('#')[0]}#/introduction")
    expect(page.locator(".my-rack button")).to_have_count(1)


def show_analysis(page: Page) -> None:
    page.goto(f"{page.url.split('#')[0]}#/analysis")
    expect(page.locator(".my-rack button")).to_have_count(6)
    expect(page.locator(".judged-moves li").first).to_be_visible()


def show_lessons(page: Page) -> None:
    page.goto(f"{page.url.split('#')[0]}#/lessons")
    expect(page.locator(".my-rack button").first).to_be_visible()


SCREENS = [show_start, show_game, show_review, show_rules, show_introduction, show_analysis, show_lessons]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["en-US", "fr-FR", "de-DE"])
def test_no_violation(open_page: Callable[..., Page], session: Browser, locale: str, scheme: str) -> None:
    session.new_game(None, "greedy")
    page = open_page(session=session, locale=locale, color_scheme=scheme)
    for show in SCREENS:
        show(page)
        assert violations(page) == [], show.__name__
