"""A real browser for the tests of the page. They are skipped where there is no Chromium."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from genial_env.web import _app as web_app
from genial_env.web import make_app
from tests.conftest import GUARD
from tests.served import Browser, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium
    from playwright.sync_api import BrowserContext, Page

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(make_app(tmp_path_factory.mktemp("games"))) as found:
        yield found


@pytest.fixture(scope="module")
def chromium() -> Iterator["Chromium"]:
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs Chromium: install it, or name it in the variable CHROMIUM")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=1000 * GUARD)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: "Chromium", address: str) -> Iterator[Callable[..., "Page"]]:
    """Opens pages, each in a browser of its own; in the end none may have complained, or asked anything elsewhere.

    They have no service worker, so that a test may answer requests itself.
    """
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def watch(page: "Page") -> None:
        page.set_default_timeout(1000 * GUARD)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if "Content Security" in said.text else None)
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: request.url.startswith(address) or complaints.append(request.url))

    def opened(path: str = "/", *, session: Browser | None = None, **options: Any) -> "Page":
        context = chromium.new_context(**{"service_workers": "block", **options})
        contexts.append(context)
        if session is not None:
            token = {"name": web_app.COOKIE, "value": session.cookies[web_app.COOKIE], "url": address}
            context.add_cookies([{**token, "httpOnly": True, "sameSite": "Strict"}])
        page = context.new_page()
        watch(page)
        page.goto(address + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def session(address: str) -> Browser:
    """A session whose games a test sets up by requests, and looks at in a page."""
    return Browser(address)
