"""The languages of the page: all words are there, and a whole game can be played in French."""

import ast
import re
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from genial_env import Rules, play
from genial_env.core.state import End
from genial_env.records import to_json_line
from genial_env.render import theme
from genial_env.render.sentences import rank_reasons
from genial_env.web._serialize import LEFT_ENDS
from tests.conftest import slow
from tests.served import Browser

WEB = Path(str(resources.files("genial_env.web")))
LANGUAGES = WEB / "static" / "languages"
OTHERS = sorted(path.stem for path in LANGUAGES.glob("??.js") if path.stem != "en")
"""The languages that word what the server says in English."""


def refusals() -> Iterator[tuple[Path, ast.Call]]:
    for path in sorted(WEB.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refused":
                yield path, node


def entries(language: str, table: str) -> set[str]:
    """The keys of a table of a language."""
    text = (LANGUAGES / f"{language}.js").read_text()
    found = re.search(rf"^  {table}: {{\n(.*?)^  }},", text, re.MULTILINE | re.DOTALL)
    assert found is not None, table
    return {quoted or bare for quoted, bare in re.findall(r'^    (?:"([^"]+)"|(\w+)):', found[1], re.MULTILINE)}


@pytest.mark.parametrize("language", OTHERS)
def test_everything_that_the_server_says_has_words(language: str) -> None:
    codes = set()
    for path, call in refusals():
        given = [each for each in call.args[2:3] if isinstance(each, ast.Constant)]
        if path.name == "_game_requests.py" and not given:  # the codes of _fault_of_sizes
            codes |= {"size_out_of_range", "invalid_rules"}
            continue
        assert given, f"{path.name}:{call.lineno}: a refusal needs a code"
        codes.add(given[0].value)
    assert entries(language, "errors") == codes
    assert entries(language, "ends") == {end.words for end in End} | set(LEFT_ENDS.values())
    text = (LANGUAGES / f"{language}.js").read_text()
    assert all(f"  {shape}: " in text for shape in theme.SHAPES.values())


def test_a_language_is_one_file_and_one_entry() -> None:
    text = (LANGUAGES.parent / "texts.js").read_text()
    listed = re.findall(r'^  (\w+): { name: "\w+", load: \(\) => import\("./languages/(\w+).js"\) },$', text, re.M)
    assert sorted(listed) == sorted((name, name) for name in ["en", *OTHERS])


@pytest.mark.parametrize(
    ("rules", "scores", "codes"),
    [
        (Rules(2), [[18] * 6, [3, 4, 5, 6, 7, 8]], ["all_at_top", "ahead"]),
        (Rules(2), [[3, 4, 5, 6, 7, 8], [8, 7, 6, 5, 4, 3]], ["shared"]),
        (Rules(1, "2004", "solo"), [[3, 4, 5, 6, 7, 8]], ["solo"]),
    ],
)
def test_reasons_of_a_ranking(rules: Rules, scores: list[list[int]], codes: list[str]) -> None:
    """Every language has a sentence for each code."""
    assert [reason.code for reason in rank_reasons(rules, scores)] == codes
    for language in OTHERS:
        text = (LANGUAGES / f"{language}.js").read_text()
        assert all(f'code === "{code}"' in text for code in codes if code != "ahead")


def button(page: Page, words: str) -> Any:
    return page.get_by_role("button", name=words, exact=True)


def seen(page: Page) -> str:
    """All words of the page, also those that only screen readers say."""
    words: str = page.evaluate("""[document.body.innerText, document.title, ...[...document.querySelectorAll(
        "[aria-label], [title], [placeholder]")].flatMap(each => ["aria-label", "title", "placeholder"].map(
        name => each.getAttribute(name) ?? ""))].join("\\n")""")
    return words


def assert_french(page: Page) -> None:
    english = (
        r"\b(the|your|tiles?|seats?|moves?|lowest|marker|play|turn|with|points? of|game|best|loss|against|red|green)\b"
    )
    assert re.findall(english, seen(page), re.IGNORECASE) == []


@slow
def test_a_whole_game_in_french(open_page: Callable[..., Page]) -> None:
    page = open_page(locale="fr-CA")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator(".seats select")).to_have_count(2)
    assert_french(page)
    page.get_by_text("Tirage et variantes").click()
    page.get_by_label("Cases par côté").fill("99")
    page.get_by_label("Cases par côté").blur()
    expect(page.locator(".problem")).to_have_text("Cases par côté\u00a0: de 3 à 10.")
    page.get_by_label("Cases par côté").fill("4")
    page.get_by_label("Numéro de tirage", exact=True).fill("3")
    page.locator(".seats select").nth(1).select_option("greedy")
    button(page, "Commencer").click()
    asked = page.locator('.my-rack button:enabled, button:has-text("Les garder"):enabled, .ending')
    expect(asked.first).to_be_visible()
    while not page.locator(".ending").count():
        if button(page, "Les garder").count():
            button(page, "Les garder").click()
        else:
            lay_somewhere(page)
        expect(asked.first).to_be_visible()
    assert_french(page)
    expect(page.locator(".ending")).to_contain_text("Marqueurs, en partant du plus bas")
    expect(page.locator(".ending")).to_contain_text("Fin\u00a0: plateau plein.")
    expect(page.locator(".ending")).to_contain_text("contre")
    page.get_by_role("link", name="Analyser cette partie").click()
    expect(page.locator(".chart")).to_be_visible()
    expect(page.locator(".panel .name").first).to_have_text("Vous")
    page.locator("ol.moves button").nth(2).click()
    expect(page.locator(".judged")).to_contain_text("valeur")
    assert_french(page)
    page.goto(f"{page.url.split('#')[0]}#/game/none")
    expect(page.get_by_role("alert")).to_contain_text("Cette partie n’existe pas")


def lay_somewhere(page: Page) -> None:
    page.locator(".my-rack button").first.click()
    free = "[...document.querySelectorAll('.cell:not(.cannot)')].filter(each => each.children.length === 1)"
    for number in page.evaluate(f"{free}.map(each => Number(each.dataset.cell))"):
        page.locator(f'.cell[data-cell="{number}"]').click()
        if button(page, "Poser").is_enabled():
            break
    button(page, "Poser").click()


@slow
def test_a_language_is_chosen_by_hand(open_page: Callable[..., Page], session: Browser) -> None:
    """The browser keeps it; the names of seats and a game under way follow."""
    game = session.new_game(None, "greedy")
    page = open_page(f"/#/game/{game['id']}", session=session, locale="es-ES")
    expect(page.locator("html")).to_have_attribute("lang", "en")  # there is no Spanish
    for tag, menu, name, status in (
        ("de", "EN ⚙Settings", "Sie", "Sie sind am Zug"),
        ("fr", "DE ⚙Einstellungen", "Vous", "À vous"),
        ("en", "FR ⚙Réglages", "You", "Your turn"),
    ):
        expect(page.locator(".menu summary")).to_have_text(menu)
        page.locator(".menu summary").click()
        page.locator(".menu select").first.select_option(tag)
        expect(page.locator("html")).to_have_attribute("lang", tag)
        expect(page.locator(".status")).to_contain_text(status)
        expect(page.locator(".panel .name").first).to_have_text(name)
    page.locator(".menu summary").click()
    page.locator(".menu select").first.select_option("de")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "de")


@slow
def test_plurals_and_numbers(open_page: Callable[..., Page]) -> None:
    """They are written as the language writes them."""
    page = open_page()
    expect(page.locator(".seats select")).to_have_count(2)

    def write(language: str, call: str) -> str:
        words: str = page.evaluate(f"import('/static/languages/{language}.js').then(({{ words }}) => words.{call})")
        return words

    assert [write("en", f"bag({count})") for count in (0, 1, 2)] == [
        f"{n} in the bag" for n in ("0 tiles", "1 tile", "2 tiles")
    ]
    assert [write("fr", f"bag({count})") for count in (0, 1, 2)] == [
        f"{n} dans le sac" for n in ("0 tuile", "1 tuile", "2 tuiles")
    ]
    assert [write("de", f"bag({count})") for count in (0, 1, 2)] == [
        f"{n} im Beutel" for n in ("0 Steine", "1 Stein", "2 Steine")
    ]
    assert write("en", "worth(-0.5, false)") == "worth −0.50"
    assert write("fr", "worth(-0.5, false)") == "valeur −0,50"
    assert write("en", "list(['A', 'B'])") == "A and B"
    assert write("fr", "placed('Vous', 'x', 'y')").startswith("Vous posez x")


@slow
def test_a_record_in_german(open_page: Callable[..., Page]) -> None:
    page = open_page("/#/replay", locale="de-DE")
    records = play(["greedy", "random"], Rules(2, side=4), seed=4, record=True).records
    assert records is not None
    line = to_json_line(records[0]) + "\n"
    buffer = (2 * line).encode()
    page.set_input_files("input[type=file]", {"name": "a.jsonl", "mimeType": "text/plain", "buffer": buffer})
    expect(page.locator(".opener option").first).to_contain_text("Spielplan voll")
    button(page, "Dieses Spiel zeigen").click()
    expect(page.locator("ol.moves button").first).to_contain_text(" auf ")
