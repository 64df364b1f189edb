"""Dark mode, forced colors, reduced motion, sounds, the tiles not seen yet, and the weight of the page."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Response, expect

from genial_env.core.rules import Rules
from genial_env.core.tables import tables
from genial_env.render import theme
from genial_env.web import make_app
from tests.conftest import GUARD, slow
from tests.served import SMALL, Browser, served


def background(page: Page) -> str:
    color: str = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    return color


def rgb(color: str) -> str:
    return f"rgb({', '.join(str(int(color[at : at + 2], 16)) for at in (1, 3, 5))})"


LIGHT, DARK = rgb(theme.PAPER), rgb(theme.NIGHT["paper"])


@slow
@pytest.mark.parametrize(("scheme", "own", "other"), [("dark", DARK, "light"), ("light", LIGHT, "dark")])
def test_dark_mode(open_page: Callable[..., Page], session: Browser, scheme: Any, own: str, other: str) -> None:
    """It follows the system until the reader chooses; the choice stays."""
    game = session.new_game(None, "greedy")
    page = open_page(f"/#/game/{game['id']}", session=session, color_scheme=scheme)
    expect(page.locator(".my-rack")).to_be_visible()
    assert background(page) == own
    page.locator(".menu summary").click()
    page.locator(".menu select").nth(1).select_option(other)
    chosen = DARK if other == "dark" else LIGHT
    assert background(page) == chosen
    page.reload()
    expect(page.locator(".my-rack")).to_be_visible()
    assert background(page) == chosen
    page.locator(".menu summary").click()
    page.locator(".menu select").nth(1).select_option("as the system")
    assert background(page) == own


@slow
def test_the_menu_is_closed_by_keys_and_beside_it(open_page: Callable[..., Page]) -> None:
    page = open_page()
    summary, menu = page.locator(".menu summary"), page.locator(".menu .card")
    summary.focus()
    page.keyboard.press("Enter")
    expect(menu).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(summary).to_be_focused()
    summary.click()
    page.locator("h1").click()
    expect(menu).to_be_hidden()


@slow
def test_forced_colors_show_what_is_chosen(open_page: Callable[..., Page], session: Browser) -> None:
    game = session.new_game(None, "greedy")
    page = open_page(f"/#/game/{game['id']}", session=session, forced_colors="active")
    first, second = page.locator(".my-rack button").nth(0), page.locator(".my-rack button").nth(1)
    first.click()
    outline = "element => getComputedStyle(element).outlineStyle"
    assert (first.evaluate(outline), second.evaluate(outline)) == ("solid", "none")
    assert page.locator(".cell .half path").count() == 0
    assert page.locator(".cell path").first.evaluate("path => getComputedStyle(path).fill") in map(
        rgb, theme.COLORS.values()
    )


@slow
def test_nothing_moves_for_those_who_ask_for_it(open_page: Callable[..., Page], session: Browser) -> None:
    game = session.new_game(None, "greedy")
    page = open_page(f"/#/game/{game['id']}", session=session, reduced_motion="reduce")
    page.locator(".my-rack button").first.click()
    page.locator(".cell").nth(18).hover()
    expect(page.locator(".ghost").first).to_be_visible()
    moving = "[...document.querySelectorAll('*')].map(each => getComputedStyle(each)).filter("
    moving += "each => each.animationName !== 'none' || each.transitionProperty !== 'none').length"
    assert page.evaluate(moving) == 0
    assert page.evaluate("document.getAnimations().length") == 0


@slow
def test_sounds_are_off_until_they_are_turned_on(open_page: Callable[..., Page], session: Browser) -> None:
    game = session.new_game(None, "greedy")
    page = open_page(f"/#/game/{game['id']}", session=session)
    page.evaluate("""() => {
        window.notes = 0;
        const { createOscillator } = AudioContext.prototype;
        AudioContext.prototype.createOscillator = function () {
            window.notes += 1;
            return createOscillator.call(this);
        };
    }""")
    expect(page.locator(".my-rack button")).to_have_count(6)
    lay_somewhere(page)
    expect(page.locator(".log li")).to_have_count(2)
    assert page.evaluate("notes") == 0
    page.locator(".menu summary").click()
    page.get_by_label("Sounds").check()
    before = page.evaluate("notes")
    assert before > 0
    page.keyboard.press("Escape")
    expect(page.locator(".my-rack button:enabled").first).to_be_visible()
    lay_somewhere(page)
    expect(page.locator(".log li")).to_have_count(4)
    assert page.evaluate("notes") > before
    page.reload()
    page.locator(".menu summary").click()
    expect(page.get_by_label("Sounds")).to_be_checked()


def lay_somewhere(page: Page) -> None:
    page.locator(".my-rack button").first.click()
    free = "[...document.querySelectorAll('.cell:not(.cannot)')].filter(each => each.children.length === 1)"
    lay = page.get_by_role("button", name="Lay it")
    for number in page.evaluate(f"{free}.map(each => Number(each.dataset.cell))"):
        page.locator(f'.cell[data-cell="{number}"]').click()
        if lay.is_enabled():
            break
    lay.click()


def test_unseen_tiles_are_those_of_the_bag_and_the_hidden_racks() -> None:
    with served(make_app()) as address:
        browser = Browser(address)
        position = browser.new_game(None, "greedy")["position"]
        rules = Rules.from_dict(SMALL)
        seen = Counter(tile for tile in position["racks"][0] if tile)
        box = Counter(dict(zip(tile_names(rules), tables(rules).full_bag.tolist(), strict=True)))
        assert position["unseen"] == dict(box - seen)
        assert sum(position["unseen"].values()) == position["bag"] + position["racks"][1]
        two = browser.new_game(None, None)
        assert "unseen" not in two["position"]  # it would tell the rack that it leaves out
        assert "unseen" in browser.seen_by(two, 0)["position"]


def tile_names(rules: Rules) -> list[str]:
    return [f"{'RGBOYP'[first]}{'RGBOYP'[second]}" for first, second in tables(rules).kinds.tolist()]


@slow
def test_unseen_tiles_on_demand(open_page: Callable[..., Page], session: Browser) -> None:
    game = session.new_game(None, "greedy")
    page = open_page(f"/#/game/{game['id']}", session=session)
    unseen = page.locator(".unseen-tiles")
    expect(unseen.locator("summary")).to_have_text("Tiles not seen yet (114)")
    expect(unseen.locator("ul")).to_be_hidden()
    unseen.locator("summary").click()
    expect(unseen.locator("li")).to_have_count(21)
    counts = [int(words) for words in unseen.locator("li").all_text_contents()]
    assert sum(counts) == 114
    lay_somewhere(page)
    expect(unseen.locator("summary")).not_to_contain_text("114")
    expect(unseen.locator("ul")).to_be_visible()


@slow
def test_the_weight_of_a_visit(open_page: Callable[..., Page], session: Browser) -> None:
    """What start, game, introduction and opener load, in bytes before any compression."""
    game = session.new_game(None, "greedy")
    page = open_page("/#/rules", session=session, locale="fr-FR")
    sizes: dict[str, int] = {}

    def note(response: Response) -> None:
        if "/static/" in response.url and response.ok:
            sizes[response.url] = len(response.body())

    page.on("response", note)
    for screen in ("#/", f"#/game/{game['id']}", "#/introduction", "#/replay"):
        page.goto(f"{page.url.split('#')[0]}{screen}")
        page.reload()
        expect(page.locator("main > .screen > *").first).to_be_visible()
    assert len(sizes) > 20
    assert sum(sizes.values()) < 300_000


@slow
def test_the_page_begins_without_the_server(open_page: Callable[..., Page], session: Browser) -> None:
    """The rules can be read then; the start says that the server does not answer."""
    page = open_page(session=session, locale="fr-FR", service_workers="allow")
    expect(page.locator(".seats select")).to_have_count(2)
    deadline = time.monotonic() + GUARD
    while not page.evaluate("caches.match('/').then(Boolean)"):  # it is kept last
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    page.context.set_offline(True)
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("Le serveur ne répond pas")
    page.get_by_role("alert").get_by_role("link", name="Règles").click()
    expect(page.locator(".rules h2").first).to_have_text("La boîte")
    page.context.set_offline(False)
    page.locator("nav a").first.click()
    expect(page.locator(".seats select")).to_have_count(2)


def test_the_page_can_be_installed() -> None:
    with served(make_app()) as address:
        browser = Browser(address)
        manifest = browser.get("/static/manifest.webmanifest")
        assert manifest.headers["content-type"].startswith("application/manifest+json")
        sent = manifest.json()
        assert sent["display"] == "standalone"
        for path in (sent["start_url"], sent["icons"][0]["src"], "/worker.js"):
            assert browser.get(path).status_code == 200
