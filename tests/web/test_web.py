"""The server of `genial serve`: what it answers, what it refuses, what it hides. tests/web/test_browser.py has the
page.
"""

import errno
import gc
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib import resources
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from genial_env import Rules, determinize, play, view
from genial_env._util.extras import install_hint
from genial_env._util.files import FolderInUse
from genial_env.cli.common import UserError
from genial_env.cli.web import serve
from genial_env.core.chance import bits
from genial_env.core.tables import tables
from genial_env.policies.roster import ROSTER
from genial_env.records import to_json_line, truncate
from genial_env.render import theme
from genial_env.table import Table
from genial_env.web import _app as web_app
from genial_env.web import _record_requests as record_requests
from genial_env.web import _session_store as session_store
from genial_env.web import _sessions as sessions
from genial_env.web import make_app, server
from genial_env.web._opponents import RATED_AS, RATINGS
from genial_env.web._page_files import MEDIA_TYPES
from genial_env.web._serialize import game_to_json, rules_to_json
from genial_env.web.limits import Limits
from tests.conftest import GUARD, posix
from tests.served import SMALL, Browser, Slow, served


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served(make_app()) as found:
        yield found


@pytest.fixture
def browser(address: str) -> Browser:
    return Browser(address)


BEGUN = {"rules": SMALL, "players": [None, "greedy"]}
"""A game, as it is asked for."""


EVERY_MODE = [Rules(2), Rules(3), Rules(4, "2009", "team"), Rules(1, "2004", "solo")]


def error_of(answer: Any, status: int) -> str:
    assert answer.status_code == status, answer.text
    sent = answer.json()
    assert set(sent) == {"error", "code", "values"}
    words: str = sent["error"]
    return words


# The page


def page_files() -> dict[str, bytes]:
    folder = Path(str(resources.files("genial_env.web") / "static"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*")}


def test_the_page_loads_nothing_from_elsewhere() -> None:
    words = {name: content.decode() for name, content in page_files().items()}
    for name, text in words.items():
        elsewhere = set(re.findall(r"https?://[^\"'`)\s]+", text))
        assert elsewhere <= {"http://www.w3.org/2000/svg"}, name
        assert "innerHTML" not in text and "insertAdjacentHTML" not in text, name  # noqa: PT018  names are text
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", words["index.html"])


def test_every_file_of_the_page_is_served(browser: Browser) -> None:
    page = browser.get("/")
    assert page.headers["content-type"].startswith("text/html")
    for name, content in page_files().items():
        answer = browser.get(f"/static/{name}")
        assert answer.content == content
        assert answer.headers["content-type"].split(";")[0] in MEDIA_TYPES.values()


@pytest.mark.parametrize(
    "path", ["/", "/static/style.css", "/api/games", "/nothing", "/static/../app.py", "/api/games/../../etc"]
)
def test_headers_are_on_every_answer(browser: Browser, path: str) -> None:
    headers = browser.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", ["..%2fapp.py", "%2e%2e/app.py", "....//app.py", "app.py", "%00", "C:\\x", "static"])
def test_no_other_file_is_served(browser: Browser, name: str) -> None:
    error_of(browser.get(f"/static/{name}"), 404)


# Who may ask


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:1", "[::1]:80", "192.168.1.7", "LOCALHOST"])
def test_own_hosts(browser: Browser, host: str) -> None:
    assert browser.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example:8000", "127.0.0.1.evil.example", "", "localhost.evil.example", "a:b:c"])
def test_other_hosts_are_refused(browser: Browser, host: str) -> None:
    assert "its own addresses" in error_of(browser.get("/", headers={"host": host}), 403)


def test_named_hosts() -> None:
    with served(make_app(hosts=["box.lan"])) as address:
        browser = Browser(address, begin=False)
        assert browser.get("/", headers={"host": "box.lan:8000"}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null", "https://127.0.0.1:8000"])
def test_changes_from_elsewhere_are_refused(browser: Browser, origin: str) -> None:
    assert "origin" in error_of(browser.post("/api/games", json={}, headers={"origin": origin}), 403)


def test_changes_without_an_origin_are_refused(browser: Browser) -> None:
    del browser.headers["origin"]
    assert "not nothing" in error_of(browser.post("/api/session", json={}), 403)


def test_the_cookie(address: str) -> None:
    browser = Browser(address, begin=False)
    cookie = browser.post("/api/session", json={}).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert browser.post("/api/session", json={}).headers["set-cookie"] == cookie  # it lives on


def test_servers_on_other_ports_keep_the_cookie(browser: Browser) -> None:
    game = browser.new_game(None, "greedy")
    token = browser.cookies[web_app.COOKIE]
    with served(make_app()) as elsewhere:
        window = browser.window(elsewhere)
        error_of(window.get("/api/games"), 403)
        window.post("/api/session", json={})
        assert {cookie.value for cookie in window.cookies.jar} == {token}
        assert window.get("/api/games").json() == []
    assert browser.window().get(f"/api/games/{game['id']}").json() == game


@pytest.mark.parametrize("token", ["", "short", "a" * 44, "../../../etc/passwd", "a" * 42 + "/", "é" * 43])
def test_invalid_tokens_are_replaced(address: str, token: str) -> None:
    browser = Browser(address, begin=False)
    answer = browser.post("/api/session", json={}, headers={"cookie": f"{web_app.COOKIE}={token}".encode()})
    assert re.match(rf"{web_app.COOKIE}=[\w-]{{43}};", answer.headers["set-cookie"])


ASKED = [
    ("GET", ""),
    ("GET", "?seat=0"),
    ("GET", "/hint"),
    ("GET", "/record"),
    ("POST", "/play"),
    ("POST", "/advance"),
    ("POST", "/remove"),
]


@pytest.mark.parametrize(("method", "what"), ASKED)
def test_a_game_belongs_to_its_session(address: str, method: str, what: str) -> None:
    owner, other, forged = Browser(address), Browser(address), Browser(address, begin=False)
    game = owner.new_game(None, "greedy")
    forged.cookies.set(web_app.COOKIE, "a" * 43)
    address = f"/api/games/{game['id']}{what}"
    body = {"turn": 0, "slot": 0, "cells": [0, 1]} if method == "POST" else None
    assert "another browser's" in error_of(other.request(method, address, json=body), 404)
    assert "no session" in error_of(forged.request(method, address, json=body), 403)
    assert other.get("/api/games").json() == []
    assert owner.get(f"/api/games/{game['id']}").json() == game


@pytest.mark.parametrize("path", ["/api/records", "/api/steps", "/api/review"])
def test_records_need_a_session(address: str, path: str) -> None:
    assert "no session" in error_of(Browser(address, begin=False).post(path, content=b"{}"), 403)


# What is hidden


@pytest.mark.parametrize("players", [(None, "greedy"), (None, None), ("greedy", None, None)], ids=str)
def test_no_rack_is_shown_but_that_of_the_person_to_play(browser: Browser, players: tuple[str | None, ...]) -> None:
    game = browser.new_game(*players)
    people = [seat for seat, player in enumerate(players) if player is None]
    while "end" not in game:
        to_play = game["position"]["to_play"]
        for seat in range(len(players)):
            answer = browser.get(f"/api/games/{game['id']}?seat={seat}")
            if seat in people and (len(people) == 1 or seat == to_play):
                open_racks = [isinstance(rack, list) for rack in answer.json()["position"]["racks"]]
                assert open_racks == [at == seat for at in range(len(players))]
            else:
                error_of(answer, 403)
        assert not any(isinstance(rack, list) for at, rack in enumerate(game["position"]["racks"]) if at not in people)
        assert {event["kind"] for event in game["moves"]} <= {"place", "swap", "pass"}
        assert "seed" not in json.dumps(game)
        assert "every rack" in error_of(browser.get(f"/api/games/{game['id']}/record"), 409)
        game = browser.decide(browser.seen_by(game, to_play)) if game["waits"] else browser.do(game, "advance")
        if len(people) > 1 and game["waits"] and game["position"]["to_play"] != to_play:
            assert game["seat"] is None
            assert "choice" not in game
    record = browser.get(f"/api/games/{game['id']}/record")
    assert record.headers["content-disposition"].startswith("attachment")
    assert json.loads(record.text)["seed"] == 1
    assert game["end"]["seed"] == 1
    assert game["end"]["why"]


def test_racks_are_open_where_they_are_hidden_from_nobody(browser: Browser) -> None:
    """Agents alone play, or the game is over."""
    watched = browser.new_game("greedy", "random")
    assert all(isinstance(rack, list) for rack in watched["position"]["racks"])
    game = browser.new_game(None, "greedy")
    while "end" not in game:
        assert [isinstance(rack, list) for rack in game["position"]["racks"]] == [True, False]
        game = browser.decide(game) if game["waits"] else browser.do(game, "advance")
    assert all(isinstance(rack, list) for rack in game["position"]["racks"])


def test_the_page_gets_no_more_than_the_view() -> None:
    """Everything hidden dealt anew: the answer is the same."""
    table = Table(Rules(), [None, None], 3)
    for _ in range(12):
        before = json.dumps(game_to_json("x", table, table.to_play))
        other = determinize(table.view(table.to_play), np.random.default_rng(0))
        own = table.state.racks[0, table.to_play].tolist()
        racks, bag = table.state.racks.copy(), table.state.bag.copy()
        table.state.racks[:], table.state.bag[:] = other.racks, other.bag
        assert table.state.racks[0, table.to_play].tolist() == own
        assert json.dumps(game_to_json("x", table, table.to_play)) == before
        table.state.racks[:], table.state.bag[:] = racks, bag
        table.play(int(table.view(table.to_play).mask()[0].argmax()))


@pytest.mark.parametrize("rules", EVERY_MODE, ids=str)
def test_the_page_gets_the_facts_of_the_rules(rules: Rules) -> None:
    sent = rules_to_json(rules)
    assert sent["next_stop"] == tables(rules).next_stop.tolist()
    assert sent["furthest"] == tables(rules).furthest.tolist()
    assert sent["bonus_stops"] == ([] if rules.mode == "solo" else list(rules.stops))
    assert sent["bonuses_a_tile"] == (0 if rules.mode == "solo" else 2)
    for track, seats in enumerate(sent["seats_by_track"]):
        assert seats == [seat for seat in range(rules.players) if rules.track_of(seat) == track]


def test_a_choice_says_whether_it_is_the_first_tile(browser: Browser) -> None:
    game = browser.new_game(None, "greedy")
    assert game["choice"]["first_tile"]
    game = browser.do(browser.decide(game), "advance")
    assert not game["choice"]["first_tile"]


def test_colors_of_the_drawings_are_the_page_s(browser: Browser) -> None:
    """They stand in one place: the page's own style sheet sets none of them."""
    sent = browser.get("/static/theme.css")
    assert sent.headers["content-type"].startswith("text/css")
    variables = dict(re.findall(r"--([a-z]+): ([^;]+);", sent.text))
    assert variables["mark"] == theme.MARK
    assert variables["paper"] == f"light-dark({theme.PAPER}, {theme.NIGHT['paper']})"
    style = browser.get("/static/style.css").text
    assert not [name for name in variables if f"--{name}:" in style]
    assert all(f"var(--{name})" in style for name in variables.keys() - {"tile"})
    icon = set(re.findall(r"#[0-9a-f]{6}", browser.get("/static/icon.svg").text))
    assert icon <= {theme.TILE, *theme.COLORS.values()}


# Playing


def test_a_game_equals_that_of_a_table(browser: Browser) -> None:
    game = browser.new_game("greedy", "denial")
    while "end" not in game:
        game = browser.do(game, "advance")
    record = json.loads(browser.get(f"/api/games/{game['id']}/record").text)
    table = Table(Rules.from_dict(SMALL), ["greedy", "denial"], 1)
    while not table.over:
        table.advance()
    assert record == table.record()


@pytest.mark.parametrize(
    ("rules", "players"),
    [
        ({"players": 1, "edition": "2009", "mode": "solo", "side": 4}, [None]),
        ({"players": 4, "edition": "2004", "mode": "team", "side": 5}, [None, "greedy", None, "denial"]),
        ({"players": 3, "edition": "2009", "mode": "individual", "side": 4}, ["random", "concave", None]),
    ],
    ids=lambda value: str(value),
)
def test_other_modes(browser: Browser, rules: dict[str, Any], players: list[str | None]) -> None:
    game = browser.post("/api/games", json={"rules": rules, "players": players, "seed": 5}).json()
    while "end" not in game:
        seat = game["position"]["to_play"]
        game = browser.decide(browser.seen_by(game, seat)) if game["waits"] else browser.do(game, "advance")
    assert browser.get("/api/games").json()[0]["over"]


def test_bonus_turns_and_declining_one(browser: Browser) -> None:
    """In 2009 a bonus may be declined: few colors, so that one comes soon."""
    game = browser.new_game(None, "random", edition="2009", side=6, colors=2, rack=4, tile_sets=6)
    declined = False
    while "end" not in game:
        if not game["waits"]:
            game = browser.do(game, "advance")
        elif game["position"]["phase"] == "bonus" and not declined:
            assert game["choice"]["decline"]
            game, declined = browser.do(game, "play", word="decline"), True
        else:
            game = browser.decide(game)
    assert declined
    assert "pass" in {event["kind"] for event in game["moves"]}


def test_a_decision_is_played_once(browser: Browser) -> None:
    game = browser.new_game(None, "greedy")
    sent = {"turn": 0, "slot": 0, "cells": game["choice"]["pairs"][0]}
    assert browser.post(f"/api/games/{game['id']}/play", json=sent).status_code == 200
    again = error_of(browser.post(f"/api/games/{game['id']}/play", json=sent), 409)
    assert again.startswith("the game has gone on meanwhile, perhaps in another window")
    error_of(browser.post(f"/api/games/{game['id']}/play", json={**sent, "turn": 1}), 409)
    assert browser.get(f"/api/games/{game['id']}").json()["turn"] == 1
    browser.do({**game, "turn": 1}, "advance")
    error_of(browser.post(f"/api/games/{game['id']}/advance", json={"turn": 2}), 409)
    error_of(browser.post(f"/api/games/{game['id']}/advance", json={"turn": 3}), 409)
    late = browser.post(f"/api/games/{game['id']}/advance", json={"turn": 1})  # what it asks for is there
    assert late.json() == browser.get(f"/api/games/{game['id']}").json()


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        ({}, 400, "slot: expected a whole number from 0 to 5, found null"),
        ({"slot": 6, "cells": [0, 1]}, 400, "found 6"),
        ({"slot": True, "cells": [0, 1]}, 400, "found true"),
        ({"slot": 0}, 400, "cells: expected two whole numbers from 0 to 36, found null"),
        ({"slot": 0, "cells": [0, 37]}, 400, "found [0, 37]"),
        ({"slot": 0, "cells": [0, 0]}, 400, "two neighbours"),
        ({"slot": 0, "cells": [0, 30]}, 400, "two neighbours"),
        ({"slot": 0, "cells": ["0", 1]}, 400, "found"),
        ({"slot": 0, "cells": [0, 1]}, 422, "is not free"),
        ({"word": "swap"}, 422, ""),
        ({"word": "decline"}, 422, ""),
        ({"word": "x"}, 400, "slot"),
        ({"turn": "0", "slot": 0, "cells": [1, 2]}, 400, 'found "0"'),
    ],
)
def test_invalid_decisions(browser: Browser, sent: dict[str, Any], status: int, words: str) -> None:
    game = browser.new_game(None, "greedy")
    answer = browser.post(f"/api/games/{game['id']}/play", json={"turn": 0, **sent})
    assert words in error_of(answer, status)
    assert browser.get(f"/api/games/{game['id']}").json() == game


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"null", b"\xff", b"[" * 50_000, b'{"turn":' + b"9" * 5000 + b"}"])
def test_a_body_that_is_not_an_object(browser: Browser, body: bytes) -> None:
    game = browser.new_game(None, "greedy")
    for path in ("/api/games", "/api/rules", f"/api/games/{game['id']}/play"):
        assert re.match("expected (a JSON|JSON|UTF-8)", error_of(browser.post(path, content=body), 400))
    assert len(browser.get("/api/games").json()) == 1


def test_methods(browser: Browser) -> None:
    for method, path in [("DELETE", "/api/games"), ("PUT", "/"), ("GET", "/api/rules"), ("POST", "/api/games/x")]:
        assert "method not allowed" in error_of(browser.request(method, path), 405)
    assert "not found" in error_of(browser.get("/api/none"), 404)


def test_a_hint_is_the_best_action_of_the_judge(browser: Browser) -> None:
    game = browser.new_game(None, "greedy")
    found = browser.hint(game).json()
    assert -1 <= found["utility"] <= 1
    assert 0 <= found["win"] <= 1
    browser.do(game, "play", slot=found["slot"], cells=found["cells"])
    error_of(browser.hint(game), 409)
    two = browser.new_game(None, None)
    error_of(browser.hint(two), 409)
    assert "slot" in browser.hint(two, seat=0).json()
    error_of(browser.hint(two, seat=1), 409)
    fewer = browser.new_game(None, "greedy", colors=5)
    assert "no hints for these rules" in error_of(browser.hint(fewer), 409)


# A new game


def test_a_hint_is_for_the_turn_that_is_seen(browser: Browser) -> None:
    game = browser.new_game(None, None)
    browser.decide(game, 0)
    hint = f"/api/games/{game['id']}/hint?seat=1&turn="
    assert "gone on meanwhile" in error_of(browser.get(f"{hint}0"), 409)
    assert "whole number" in error_of(browser.get(f"{hint}-1"), 400)


def test_all_combinations_can_be_played(browser: Browser) -> None:
    offered = browser.post("/api/session", json={}).json()["choices"]["combinations"]
    for each in offered:
        for players in each["players"]:
            rules = {"players": players, "edition": each["edition"], "mode": each["mode"]}
            answer = browser.post("/api/rules", json=rules).json()
            assert {"random", "greedy", "denial"} <= set(answer["agents"])
            assert answer["judge"] == ("value" in answer["agents"])
    assert {"edition": "2025", "mode": "individual", "players": [2, 3, 4]} in offered


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"players": 5}, "players"),
        ({"players": "2"}, "players must be a whole number"),
        ({"edition": "1999"}, "unknown edition"),
        ({"edition": []}, "rules"),
        ({"mode": "team"}, "mode"),
        ({"side": 99}, "side"),
        ({"wings": 2}, "unknown rule 'wings'"),
        ({"one_bonus_a_tile": 1}, "one_bonus_a_tile must be True or False"),
    ],
)
def test_invalid_rules(browser: Browser, changed: dict[str, Any], words: str) -> None:
    rules = {**SMALL, **changed}
    assert words in error_of(browser.post("/api/rules", json=rules), 400)
    body = {"rules": rules, "players": [None, "greedy"]}
    assert words in error_of(browser.post("/api/games", json=body), 400)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"players": [None]}, "players: expected a list of 2, found [null]"),
        ({"players": None}, "found null"),
        (
            {"players": [None, "genial_env.policies.points:PointsPolicy"]},
            "players[1]: expected a person (null) or one of random",
        ),
        ({"players": [None, "search(playouts=9)"]}, "players[1]"),
        ({"players": [None, ["greedy"]]}, "players[1]"),
        ({"names": ["Ann"]}, "names: expected a list of 2"),
        ({"names": [None, "Ann"]}, 'names: expected up to 24 letters for a person, found "Ann"'),
        ({"names": ["A" * 25, None]}, "names"),
        ({"names": ["A\nB", None]}, "names"),
        ({"names": [1, None]}, "names"),
        ({"players": [None, "<script>"]}, 'found "<script>"'),
        ({"seed": -1}, "seed: expected a whole number from 0"),
        ({"seed": 2**53}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"seed": True}, "seed"),
        ({"rules": None}, "rules: expected an object, found null"),
    ],
)
def test_games_that_cannot_begin(browser: Browser, sent: dict[str, Any], words: str) -> None:
    body = {"rules": SMALL, "players": [None, "greedy"], **sent}
    assert words in error_of(browser.post("/api/games", json=body), 400)
    assert browser.get("/api/games").json() == []


def test_one_bonus_a_tile(browser: Browser) -> None:
    rules = browser.post("/api/rules", json={**SMALL, "one_bonus_a_tile": True}).json()["rules"]
    assert rules["named"]["one_bonus_a_tile"] is True
    assert rules["bonuses_a_tile"] == 1
    game = browser.new_game(None, "greedy", one_bonus_a_tile=True)
    assert game["rules"]["bonuses_a_tile"] == 1
    assert browser.get("/api/games").json()[0]["rules"]["one_bonus_a_tile"] is True


def test_names_of_seats(tmp_path: Path) -> None:
    """People may give names; seats are counted from 1. The names outlive the server."""
    named = {"rules": {**SMALL, "players": 3}, "players": [None, None, "greedy"], "names": [" Ann ", "", None]}
    with served(make_app(tmp_path)) as address:
        browser = Browser(address)
        game = browser.post("/api/games", json=named).json()
        assert game["names"] == ["Ann", "Seat 2", "greedy"]
        alike = {"rules": SMALL, "players": [None, "greedy"], "names": ["greedy", None]}
        assert browser.post("/api/games", json=alike).json()["names"] == ["greedy (seat 1)", "greedy (seat 2)"]
        assert browser.new_game(None, "greedy")["names"] == ["You", "greedy"]
    with served(make_app(tmp_path)) as address:
        again = browser.window(address)
        assert again.get(f"/api/games/{game['id']}").json()["names"] == game["names"]
        assert game["names"] in [each["names"] for each in again.get("/api/games").json()]


LEADERBOARD = Path(__file__).parents[2] / "docs" / "leaderboard"


@pytest.mark.skipif(not LEADERBOARD.is_dir(), reason="compares with docs/leaderboard")
def test_ratings_are_those_of_the_leaderboard() -> None:
    for path in LEADERBOARD.glob("*.json"):
        found = json.loads(path.read_text())
        rules, ratings = found["settings"]["rules"], found["ratings"]
        if rules["mode"] == "team":
            continue
        measured = dict(zip(ratings["names"], ratings["rating"]["value"], strict=True))
        shown = {
            name: by_players[rules["players"]] for name, by_players in RATINGS.items() if rules["players"] in by_players
        }
        assert {RATED_AS.get(name, name): rating for name, rating in shown.items()} == {
            name: 10 * round(rating / 10) for name, rating in measured.items()
        }, path
    assert RATINGS.keys() <= ROSTER.keys()


def test_why_a_game_was_won_in_the_right_number(browser: Browser) -> None:
    game = browser.new_game("greedy", "random", "greedy", "random", edition="2009", mode="team")
    while "end" not in game:
        game = browser.do(game, "advance")
    assert re.search(r"\(seat \d\) and \w+ \(seat \d\) win$", game["end"]["why"][-1])
    game = browser.new_game(None, "random", "random")
    while "end" not in game:
        game = browser.decide(game) if game["waits"] else browser.do(game, "advance")
    words = " ".join(game["end"]["why"])
    assert "you come before" in words or "comes before you" in words or "they share" in words
    assert "your side" not in words


def test_agents_that_cannot_play_are_not_offered(browser: Browser) -> None:
    fewer = browser.post("/api/rules", json={**SMALL, "colors": 5}).json()
    assert "greedy" in fewer["agents"]
    assert "value" not in fewer["agents"]  # its weights are for six colors
    assert not fewer["judge"]


def test_a_game_too_many() -> None:
    with served(make_app(limits=Limits(games=2))) as address:
        browser = Browser(address)
        first = browser.new_game(None, "greedy")
        browser.new_game(None, "greedy")
        assert "you have 2 games" in error_of(browser.post("/api/games", json=BEGUN), 409)
        assert browser.post(f"/api/games/{first['id']}/remove", json={}).status_code == 200
        browser.new_game(None, "greedy")


# What is kept


def test_games_outlive_the_server(tmp_path: Path) -> None:
    with served(make_app(tmp_path)) as address:
        first = Browser(address)
        game = first.decide(first.new_game(None, "greedy"))
        game = first.do(game, "advance")
        removed = first.new_game(None, "greedy")
        first.post(f"/api/games/{removed['id']}/remove", json={})
    with served(make_app(tmp_path)) as address:
        again = first.window(address)
        assert again.get(f"/api/games/{game['id']}").json() == game
        assert [each["id"] for each in again.get("/api/games").json()] == [game["id"]]
        error_of(Browser(address).get(f"/api/games/{game['id']}"), 404)
    token = first.cookies[web_app.COOKIE]
    assert not [path for path in tmp_path.rglob("*") if token in str(path) or token in _text_of(path)]


def _text_of(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def folder_of(browser: Browser, kept: Path) -> Path:
    """The folder of a session's games."""
    return kept / sessions.digest_token(browser.cookies[web_app.COOKIE])


NO_GAMES = {
    "empty": b"",
    "no keys": b"{}",
    "list": b"[]",
    "no table": b'{"started": 1, "table": {}}',
    "wrong types": b'{"started": "x", "table": null}',
    "zero byte": b"\x00",
    "no text": b"\xff\xfe",
    "deep": b"[" * 100_000,
    "endless number": b'{"started": 1e999, "table": null}',
    "twice": b'{"started": 1, "started": 2, "table": null}',
    "large": b" " * 1_000_001,
}


def test_invalid_files_do_not_affect_other_games(tmp_path: Path) -> None:
    """They stay as they are; the list says what is wrong with them; they can be removed."""
    with served(make_app(tmp_path)) as address:
        first = Browser(address)
        game = first.new_game(None, "greedy")
    folder = folder_of(first, tmp_path)
    good = json.loads((folder / f"{game['id']}.json").read_text())
    illegal = json.dumps({**good, "table": {**good["table"], "actions": [10**6]}}).encode()
    of_nobody = json.dumps({**good, "table": {**good["table"], "players": [None, "nobody"]}}).encode()
    files = {**NO_GAMES, "illegal": illegal, "unknown agent": of_nobody}
    for name, content in files.items():
        (folder / f"{name}.json").write_bytes(content)
    (folder / "folder.json").mkdir()
    (folder / f".{game['id']}.json.0123456789ab.part.json").write_text("half")
    with served(make_app(tmp_path)) as address:
        again = first.window(address)
        listed = again.get("/api/games").json()
        assert listed[0]["id"] == game["id"]
        assert {each["id"]: bool(each["fault"]) for each in listed[1:]} == dict.fromkeys([*files, "folder"], True)
        assert "this game cannot go on: " in error_of(again.get("/api/games/illegal"), 410)
        assert again.get(f"/api/games/{game['id']}").json() == game
        assert {path.name for path in folder.iterdir()} == {f"{name}.json" for name in [*files, "folder", game["id"]]}
        assert {name: (folder / f"{name}.json").read_bytes() for name in files} == files
        assert again.post("/api/games/illegal/remove", json={}).status_code == 200
        assert not (folder / "illegal.json").exists()


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        make_app(tmp_path / "file")


def test_a_decision_that_cannot_be_saved_is_not_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full for a while: the game stays as it was, in memory and on the disk, and goes on afterwards."""

    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with served(make_app(tmp_path)) as address:
        browser = Browser(address)
        game = browser.decide(browser.decide(browser.new_game(None, None, "greedy"), seat=0), seat=1)
        for what in ("advance", "play"):
            if what == "play":
                game = browser.seen_by(browser.do(game, "advance"), 0)
            body = {"turn": game["turn"], "slot": 0, "wait": 10, "seat": 0}
            body["cells"] = game["choice"]["pairs"][0] if what == "play" else []
            with monkeypatch.context() as full_for_now:
                full_for_now.setattr(session_store, "write_bytes", full)
                answer = browser.post(f"/api/games/{game['id']}/{what}", json=body)
                assert "cannot save the game: No space left" in error_of(answer, 507)
                assert "cannot save the game" in error_of(browser.post("/api/games", json=BEGUN), 507)
                seat = "?seat=0" if what == "play" else ""
                assert browser.get(f"/api/games/{game['id']}{seat}").json() == game
        game = browser.decide(game)
    with served(make_app(tmp_path)) as address:
        assert browser.window(address).get(f"/api/games/{game['id']}").json()["turn"] == game["turn"] == 4


def test_sessions_in_memory_are_limited() -> None:
    """What is in memory stays bounded; a session that is used stays, and one with a game longer than one without."""
    with served(make_app(limits=Limits(sessions=3))) as address:
        browser, other = Browser(address), Browser(address)
        game, others = browser.new_game(None, "greedy"), other.new_game(None, "greedy")
        for _ in range(5):
            Browser(address)
            assert browser.get(f"/api/games/{game['id']}").status_code == 200
        assert other.get(f"/api/games/{others['id']}").status_code == 200


@pytest.mark.parametrize("kept", [True, False])
def test_games_of_all_sessions_are_limited(tmp_path: Path, kept: bool) -> None:
    with served(make_app(tmp_path if kept else None, limits=Limits(all_games=3))) as address:
        browsers = [Browser(address) for _ in range(3)]
        games = [browser.new_game(None, "greedy") for browser in browsers]
        assert "3 games, as many as it takes" in error_of(browsers[0].post("/api/games", json=BEGUN), 507)
        browsers[0].do(games[0], "remove")
        browsers[1].new_game(None, "greedy")
    if kept:  # what is on the disk counts after a restart
        with served(make_app(tmp_path, limits=Limits(all_games=3))) as address:
            error_of(browsers[1].window(address).post("/api/games", json=BEGUN), 507)


def test_bytes_on_the_disk_are_limited(tmp_path: Path) -> None:
    """A game that is there goes on."""
    with served(make_app(tmp_path, limits=Limits(stored_bytes=100))) as address:
        browser = Browser(address)
        game = browser.new_game(None, "greedy")
        assert "as much as it has" in error_of(browser.post("/api/games", json=BEGUN), 507)
        browser.decide(game)
        browser.do({**game, "turn": 1}, "remove")
        browser.new_game(None, "greedy")


def test_old_sessions_are_removed(tmp_path: Path) -> None:
    limits = Limits(idle_s=3600, max_age_s=30 * 24 * 3600)
    with served(make_app(tmp_path, limits=limits)) as address:
        old, idle, new = (Browser(address) for _ in range(3))
        games = [browser.new_game(None, "greedy") for browser in (old, idle, new)]
    now = time.time()
    os.utime(folder_of(old, tmp_path), (now, now - limits.max_age_s - 60))
    os.utime(folder_of(idle, tmp_path), (now, now - limits.max_age_s + 3600))
    kept = sessions.Sessions(tmp_path, limits)
    try:
        assert not folder_of(old, tmp_path).exists()
        session = kept.load(folder_of(idle, tmp_path).name)
        assert [game.id for game in session.games()] == [games[1]["id"]]
        assert now - folder_of(idle, tmp_path).stat().st_mtime < 60  # it is used: from now on it counts anew
        session.used -= limits.idle_s + 60
        kept.sweep()
        assert kept.known(session.digest) is session  # found again while somebody holds it
        session.used -= limits.idle_s + 60
        kept.sweep()
        digest = session.digest
        del session
        gc.collect()
        assert kept.known(digest) is None
        assert [game.id for game in kept.load(digest).games()] == [games[1]["id"]]
        assert kept.is_stored(folder_of(new, tmp_path).name)
    finally:
        kept.close()


def test_a_second_server_is_refused(tmp_path: Path) -> None:
    """It says who has the folder, and may have it afterwards."""
    app = make_app(tmp_path)
    with pytest.raises(FolderInUse, match=rf"process {os.getpid()} on"):
        make_app(tmp_path)
    with pytest.raises(UserError, match=rf"{tmp_path}: .*process {os.getpid()}"):
        serve("127.0.0.1", 0, tmp_path)
    app.close()
    make_app(tmp_path).close()


# Records


def games_of(*agents: str, count: int = 1, **rules: Any) -> list[dict[str, Any]]:
    records = play(list(agents), Rules(len(agents), **rules), games=count, seed=4, record=True).records
    assert records is not None
    return records


def test_a_file_of_records(browser: Browser) -> None:
    games = games_of("greedy", "random", count=3, side=4)
    games[1]["agents"][0] = "<script>alert(1)</script>"
    games[2]["agents"][0] = "\ud800"
    found = browser.post("/api/records", content="\n".join(map(json.dumps, [*games, games[0]])) + "\n\n").json()
    assert [game["line"] for game in found["games"]] == [1, 2, 3, 4]
    assert found["games"][1]["names"][0] == "<script>alert(1)</script>"
    assert found["more"] == 0
    assert not any("fault" in game for game in found["games"])


def test_a_record_step_by_step(browser: Browser) -> None:
    record = games_of("greedy", "random", side=4)[0]
    steps = browser.post("/api/steps", content=to_json_line(record)).json()
    assert len(steps["events"]) == len(record["events"])
    assert steps["frames"][0]["position"]["racks"] == record["deal"]
    assert steps["frames"][-1]["position"]["scores"] == record["scores"]
    assert steps["frames"][-1]["event"] == len(record["events"])
    placed = [event["event"] for event in steps["events"] if event["kind"] != "draw"]
    assert placed == [frame["event"] for frame in steps["frames"][:-1]]


def broken(change: Any) -> str:
    record = games_of("greedy", "random", side=4)[0]
    change(record)
    return json.dumps(record)


MALFORMED = {
    "not json": ("{", "expected JSON, found something unreadable"),
    "other json": ("[1, 2]", "expected a JSON object, found list"),
    "deep": ("[" * 60_000, "expected JSON nested at most"),
    "no format": ("{}", "format: expected"),
    "no rules": (broken(lambda r: r.pop("rules")), "expected the key 'rules'"),
    "wrong rules": (broken(lambda r: r["rules"].update(players=9)), "rules: expected"),
    "points": (broken(lambda r: r["events"][4].__setitem__(7, {"R": 9})), "event 4: expected"),
    "legal": (broken(lambda r: r["events"][2].__setitem__(2, 7)), "event 2: expected"),
    "cells": (broken(lambda r: r["events"][2].__setitem__(5, [99, 99])), "event 2: expected two neighbouring cells"),
    "scores": (broken(lambda r: r["scores"][0].__setitem__(0, 3)), "scores: expected"),
    "text": (broken(lambda r: r.update(events="x")), "events: expected a list"),
}


@pytest.mark.parametrize(("text", "words"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_record(browser: Browser, text: str, words: str) -> None:
    found = browser.post("/api/records", content=text).json()
    assert words in found["games"][0]["fault"]
    for path in ("/api/steps", "/api/review"):
        assert words in error_of(browser.post(path, content=text), 422)


def test_one_malformed_record_among_others(browser: Browser) -> None:
    good = to_json_line(games_of("greedy", "random", side=4)[0])
    found = browser.post("/api/records", content=good + "\n{\n" + good).json()
    assert [("fault" in game, game["line"]) for game in found["games"]] == [(False, 1), (True, 3), (False, 4)]


def test_files_that_hold_no_records(browser: Browser) -> None:
    assert "empty file" in error_of(browser.post("/api/records", content=b"\n \n"), 422)
    assert "UTF-8" in error_of(browser.post("/api/records", content=b"\x89PNG\xff"), 422)


def test_too_large_requests(browser: Browser) -> None:
    for path, most in (("/api/records", "5 MB"), ("/api/steps", "100 kB"), ("/api/review", "100 kB")):
        size = 5_000_001 if "MB" in most else 100_001
        assert error_of(browser.post(path, content=b" " * size), 413) == f"expected at most {most}, found more"
    assert "100 kB" in error_of(browser.post("/api/games", content=b" " * 100_001), 413)


def test_a_file_of_very_many_records(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_requests, "MAX_RECORDS", 2)
    line = to_json_line(games_of("greedy", "random", side=4)[0])
    found = browser.post("/api/records", content=line * 5).json()
    assert (len(found["games"]), found["more"]) == (2, 3)


def test_a_review_comes_in_lines(browser: Browser) -> None:
    record = games_of("greedy", "random", side=4)[0]
    decisions = sum(event[0] != "draw" for event in record["events"])
    for _ in range(2):  # the second is not refused: the first is over
        answer = browser.post("/api/review", content=to_json_line(record))
        lines = [json.loads(line) for line in answer.text.splitlines()]
        assert [line["of"] for line in lines[:-1]] == [decisions] * (len(lines) - 1)
        assert lines[-2]["done"] == decisions
        review = lines[-1]["review"]
        assert len(review["decisions"]) == decisions
        assert all(each["loss"] >= 0 and len(each["alternatives"]) <= 3 for each in review["decisions"])


def test_a_review_without_a_judge(browser: Browser) -> None:
    record = games_of("greedy", "random", side=4, colors=5)[0]
    lines = browser.post("/api/review", content=to_json_line(record)).text.splitlines()
    assert "cannot judge this game" in json.loads(lines[-1])["error"]


def test_a_solo_review(browser: Browser) -> None:
    record = games_of("greedy", edition="2009", mode="solo", side=4)[0]
    review = json.loads(browser.post("/api/review", content=to_json_line(record)).text.splitlines()[-1])["review"]
    assert review["unit"] == "lowest marker"
    assert review["decisions"][0]["win"] is None


def test_a_review_with_open_racks(browser: Browser) -> None:
    record = games_of("greedy", "random", side=4)[0]
    line = to_json_line(record)
    assert "racks: expected one of hidden, open" in error_of(browser.post("/api/review?racks=all", content=line), 400)
    reviews = [
        json.loads(browser.post(f"/api/review{asked}", content=line).text.splitlines()[-1])["review"]
        for asked in ("", "?racks=hidden", "?racks=open")
    ]
    assert [found["racks"] for found in reviews] == ["hidden", "hidden", "open"]
    assert reviews[0] == reviews[1]
    assert reviews[0]["decisions"] != reviews[2]["decisions"]
    going_on = to_json_line(truncate(record, 4))
    last = json.loads(browser.post("/api/review?racks=open", content=going_on).text.splitlines()[-1])
    assert "open racks are for finished games" in last["error"]


def test_a_hint_does_not_depend_on_hidden_tiles(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the same if the server holds the game with the hidden tiles dealt anew."""
    games = [browser.new_game(None, "greedy", seed=1) for _ in range(3)]
    found = browser.hint(games[0]).json()
    held = Table(Rules(2, side=4), [None, "greedy"], 1).state
    for number, game in enumerate(games[1:]):
        other = determinize(view(held), bits(number, [0]))
        assert not np.array_equal(other.racks, held.racks)
        monkeypatch.setattr(Table, "state", property(lambda table, other=other: other))
        assert browser.hint(game).json() == found


def test_one_review_at_a_time(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    going, may_end = threading.Event(), threading.Event()

    def review(*_: Any, **__: Any) -> Any:
        going.set()
        may_end.wait(GUARD)
        raise ValueError("enough")

    monkeypatch.setattr(record_requests, "review", review)
    line = to_json_line(games_of("greedy", "random", side=4)[0])
    second = browser.window()
    thread = threading.Thread(target=lambda: browser.post("/api/review", content=line))
    thread.start()
    assert going.wait(GUARD)
    assert "being reviewed" in error_of(second.post("/api/review", content=line), 429)
    assert Browser(browser.address).get("/api/games").status_code == 200
    may_end.set()
    thread.join()
    last = json.loads(second.post("/api/review", content=line).text.splitlines()[-1])
    assert last == {"error": "enough", "code": "cannot_review", "values": {"reason": "enough"}}


def test_a_review_is_cancelled_when_the_client_leaves(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()

    def review(record: Any, judge: str, progress: Any, **_: Any) -> Any:
        try:
            for done in count():  # until somebody breaks it off
                progress(min(done, 10_000), 10_000)
                time.sleep(0.005)
        finally:
            ended.set()

    monkeypatch.setattr(record_requests, "review", review)
    line = to_json_line(games_of("greedy", "random", side=4)[0])
    with browser.stream("POST", "/api/review", content=line) as answer:
        lines = answer.iter_lines()
        assert json.loads(next(lines)) == {
            "done": 0,
            "of": sum(event[0] != "draw" for event in json.loads(line)["events"]),
        }
        assert json.loads(next(lines))["of"] == 10_000
    assert ended.wait(GUARD)
    monkeypatch.undo()
    assert browser.post("/api/review", content=line).status_code == 200


# Trouble in the server


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Slow]]:
    """An agent "slow" that thinks until the test lets it end."""
    with Slow.known(monkeypatch):
        yield Slow


def ask(browser: Browser, game: dict[str, Any], **sent: Any) -> Any:
    return browser.post(f"/api/games/{game['id']}/advance", json={"turn": game["turn"], **sent})


def test_a_thinking_agent_delays_no_request(slow: type[Slow]) -> None:
    """The request is answered at once, the game is shown, everything else goes on; the decision is there later."""
    with served(make_app(limits=Limits(agent_threads=1))) as address:
        browser = Browser(address)
        game = browser.new_game(Slow.name, None)
        assert "thinking" not in game
        found = ask(browser, game).json()
        assert slow.going.acquire(timeout=GUARD)
        assert found["turn"] == 0
        assert found["thinking"]["seconds"] >= 0
        again = browser.get(f"/api/games/{game['id']}").json()
        assert again["thinking"]["seconds"] >= found["thinking"]["seconds"]
        assert not again["thinking"]["waits"]
        assert {**again, "thinking": None} == {**game, "thinking": None}
        assert ask(browser.window(), game, wait=0.01).json()["turn"] == 0  # asks for the same task
        error_of(browser.post(f"/api/games/{game['id']}/play", json={"turn": 0}), 409)
        assert Browser(address).new_game(None, "greedy")["waits"]
        slow.may_end.set()
        assert browser.do(game, "advance")["turn"] == 1
        assert not slow.going.acquire(blocking=False)  # it was asked once


def test_many_games_of_slow_agents_do_not_hold_up_a_request(slow: type[Slow]) -> None:
    """As many as there are threads think, the others wait; requests of other kinds are answered meanwhile."""
    with served(make_app(limits=Limits(agent_threads=2, queued_tasks=40))) as address:
        heavy = [Browser(address) for _ in range(2)]
        games = [(browser, browser.new_game(Slow.name, None)) for browser in heavy for _ in range(21)]
        begun = [ask(browser, game) for browser, game in games]
        assert [answer.status_code for answer in begun] == [200] * 42
        assert slow.going.acquire(timeout=GUARD)
        assert slow.going.acquire(timeout=GUARD)
        light = Browser(address)
        mine = light.decide(light.new_game(None, Slow.name, None), seat=0)  # and all that is quick
        assert light.get("/api/games").json()[0]["turn"] == 1
        assert "server is busy" in error_of(ask(light, mine), 503)  # 40 tasks wait: no more
        state = heavy[1].get(f"/api/games/{games[-1][1]['id']}").json()["thinking"]
        assert state["waits"]
        assert not slow.going.acquire(blocking=False)
        slow.may_end.set()
        assert {browser.do(game, "advance")["turn"] for browser, game in games} == {1}
        assert light.do(mine, "advance")["turn"] == 2  # now there is room


def test_a_hint_does_not_wait_for_agents(slow: type[Slow]) -> None:
    with served(make_app(limits=Limits(agent_threads=1, helper_threads=1))) as address:
        browser = Browser(address)
        ask(browser, browser.new_game(Slow.name, None))
        assert slow.going.acquire(timeout=GUARD)
        assert "cells" in browser.hint(browser.new_game(None, "greedy")).json()


def test_a_game_is_removed_while_an_agent_thinks(slow: type[Slow], tmp_path: Path) -> None:
    with served(make_app(tmp_path)) as address:
        browser = Browser(address)
        game, other = browser.new_game(Slow.name, None), browser.new_game(None, "greedy")
        ask(browser, game)
        assert slow.going.acquire(timeout=GUARD)
        waiting = threading.Thread(target=lambda: answers.append(ask(browser.window(), game, wait=30)))
        answers: list[Any] = []
        waiting.start()
        assert browser.do(game, "remove") == {}
        waiting.join(GUARD)
        assert error_of(answers[0], answers[0].status_code)
        slow.may_end.set()
        error_of(browser.get(f"/api/games/{game['id']}"), 404)
        assert [each["id"] for each in browser.get("/api/games").json()] == [other["id"]]
    assert [path.stem for path in folder_of(browser, tmp_path).iterdir()] == [other["id"]]


def test_the_server_ends_while_an_agent_thinks(slow: type[Slow], tmp_path: Path) -> None:
    """Whoever waits is answered; what was played is there again, and the agent is asked again."""
    answers: list[Any] = []
    with served(make_app(tmp_path)) as address:
        browser = Browser(address)
        game = browser.decide(browser.new_game(None, Slow.name))
        window = browser.window()
        Browser.opened.remove(window)  # it stays open until it is answered
        waiting = threading.Thread(target=lambda: answers.append(ask(window, game, wait=30)))
        waiting.start()
        assert slow.going.acquire(timeout=GUARD)
    waiting.join(GUARD)
    window.close()
    assert "server is ending" in error_of(answers[0], 409)
    slow.may_end.set()
    with served(make_app(tmp_path)) as address:
        again = browser.window(address)
        assert again.get(f"/api/games/{game['id']}").json() == game
        assert again.do(game, "advance")["turn"] == 2


@pytest.mark.parametrize("wait", [-1, 31, "x", None, True, [], "nan", 10**400])
def test_how_long_an_answer_may_be_held_back(browser: Browser, wait: Any) -> None:
    game = browser.new_game("greedy", None)
    if wait is not True:
        assert "wait: expected seconds from 0 to 30" in error_of(ask(browser, game, wait=wait), 400)
    assert "seconds" in error_of(browser.get(f"/api/games/{game['id']}/hint?wait=nan"), 400)


def test_an_internal_error_does_not_end_the_server(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    game = browser.new_game("greedy", None)
    with monkeypatch.context() as broken_for_now:
        broken_for_now.setattr(Table, "choose", lambda self: 1 // 0)
        answer = ask(browser, game, wait=10)
        assert "went wrong" in error_of(answer, 500)
        assert "Zero" not in answer.text
        assert "content-security-policy" in answer.headers
    assert browser.do(game, "advance")["turn"] == 1


@pytest.mark.parametrize("agent", ["denial", "value"])
def test_agents_that_look_one_move_ahead_answer_at_once(browser: Browser, agent: str) -> None:
    """Each move is there with the answer to its request."""
    game = browser.new_game(agent, agent, side=6)
    for turn in range(12):
        assert game["turn"] == turn
        game = browser.do(game, "advance")


# The command


@posix
def test_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "genial_env", "serve", "--port", "0", "--data", str(tmp_path / "kept")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        said = process.stdout.readline()
        address = re.match(r"Play at (http://127\.0\.0\.1:\d+/)", said)
        assert address, said + process.stderr.read()
        page = httpx.get(address[1])
        assert "<title>Génial!</title>" in page.text
        assert "server" not in page.headers
        process.send_signal(signal.SIGINT)
        assert process.wait(GUARD) == 0
        assert process.stderr.read() == ""


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("localhost", False), ("0.0.0.0", True)])
def test_other_hosts_are_warned_of(
    host: str, warned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is served here: the server ends at once, as by Ctrl-C."""

    class Ended:
        saved = threading.Event()

        def run(self, sockets: list[socket.socket]) -> None:
            raise KeyboardInterrupt

    with socket.create_server(("127.0.0.1", 0)) as sock:
        monkeypatch.setattr(server, "create_server", lambda app, host, port: (Ended(), sock))
        serve(host, 0, tmp_path)
    said = capsys.readouterr()
    assert bool(re.search(r"Invitation code: [A-Z2-9]{4}-[A-Z2-9]{4}\n", said.out)) == warned
    if warned:  # guests can use the printed address
        address = re.match(r"Play at http://([\d.]+):", said.out)
        assert address is not None
        assert address[1] != host
    else:
        assert said.out.startswith(f"Play at http://{host}:")
    assert ("everybody who can reach" in said.err) == warned


def test_guests_may_call_this_machine_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[list[str]] = []

    def make_app(folder: Path, hosts: list[str], *_: Any, **__: Any) -> None:
        found.append(hosts)
        raise OSError(0, "enough")

    monkeypatch.setattr(socket, "gethostname", lambda: "Table.home")
    monkeypatch.setattr("genial_env.web.make_app", make_app)
    for host in ("0.0.0.0", "127.0.0.1"):
        with pytest.raises(UserError, match="enough"):
            serve(host, 0, tmp_path)
    with pytest.raises(UserError, match="enough"):
        serve("127.0.0.1", 0, tmp_path, allowed_host=["Game.Example"])
    assert found == [["0.0.0.0", "table.home", "table.local"], ["127.0.0.1"], ["127.0.0.1", "game.example"]]


def test_without_the_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    with pytest.raises(UserError, match=re.escape(install_hint("serve"))):
        serve("127.0.0.1", 0, tmp_path)


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "genial_env", "serve", "--port", port, "--data", str(tmp_path)]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert f"cannot listen on 127.0.0.1, port {port}" in found.stderr
