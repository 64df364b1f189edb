"""The README's and the pages' Python runs as printed, tables are those of the code, links lead somewhere."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from genial_env import backends
from tests.paths import ROOT
from tests.project.scripts import load_script

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
NAMES = {page: str(page.relative_to(ROOT)) for page in PAGES}
SLOW = {"docs/tianshou.md"}
"""Pages whose library takes longest to be imported."""
SNIPPETS = [
    pytest.param(code, id=f"{NAMES[page]}-{number}", marks=[pytest.mark.slow] * (NAMES[page] in SLOW))
    for page in PAGES
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


# What the libraries of single pages warn of when they are imported.
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:tensordict.*")
@pytest.mark.filterwarnings("ignore:.*A Box observation space (min|max)imum value is")  # a function's are unknown
@pytest.mark.filterwarnings("ignore:Training and eval env are not of the same type")
@pytest.mark.parametrize("code", SNIPPETS)
def test_snippet(code: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a folder of its own. A first line "# needs: name" skips the snippet where the library is missing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(backends, "_calls", [])  # what a snippet chooses ends with it
    needs = re.match(r"# needs: (\w+)\n", code)
    if needs:
        pytest.importorskip(needs[1], reason=f"needs {needs[1]}")
    if importlib.util.find_spec("torch"):  # on a busy machine its threads would wait for each other
        importlib.import_module("torch").set_num_threads(1)
    exec(compile(code, "snippet", "exec"), {})


@pytest.mark.parametrize("page", PAGES, ids=NAMES.values())
def test_links_lead_somewhere(page: Path) -> None:
    """Files and, in them, headings."""
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text()):
        if target.startswith("https://"):
            continue
        found = page.parent / target if target else page
        assert found.exists(), target
        if anchor:
            assert anchor in headings(found), f"{target}#{anchor}"


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_the_files_that_the_design_names_exist() -> None:
    """Paths begin in the repository, in the package or in its folder `web`."""
    text = (DOCS / "design.md").read_text()
    named = set(re.findall(r"`([\w./]+(?:/|\.py|\.js|\.svg|\.md|\.json))`", text))
    assert {"core/scalar.py", "tests/reference.py", "_util/"} <= named
    starts = [ROOT, ROOT / "genial_env", ROOT / "genial_env" / "web"]
    assert [name for name in sorted(named) if not any((start / name).exists() for start in starts)] == []


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    assert all(f": {page.relative_to(DOCS)}\n" in navigation for page in sorted(DOCS.rglob("*.md")))


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    return load_script("generate")


def test_tables_and_pictures_are_those_of_the_code(generate: ModuleType) -> None:
    """After a change of arrays, encodings or actions run docs/generate.py."""
    encodings = (DOCS / "encodings.md").read_text()
    assert all(f"## {name}\n" in encodings for name in generate.ENCODINGS)
    for page in generate.TABLES:
        text = (DOCS / page).read_text()
        assert generate.fill_page(page, text) == text
    for title, draw in generate.PICTURES.items():
        assert draw() == (DOCS / "images" / title).read_text()


def test_the_documentation_builds(tmp_path: Path) -> None:
    """Strictly: a page without a place in the navigation or a broken link fails it."""
    pytest.importorskip("mkdocs", reason="needs mkdocs-material: pip install -e '.[docs]'")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    build(load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(tmp_path)))
    pages = list(tmp_path.rglob("index.html"))
    notebooks = list((ROOT / "notebooks").glob("*.ipynb"))
    assert len(pages) == len(list(DOCS.rglob("*.md"))) + len(notebooks) + 1  # the changelog
    for page in pages:  # nothing is loaded from elsewhere
        assert not re.findall(r'<(?:link|script|img)[^>]+(?:href|src)="https?://(?!squidfunk)[^"]*"', page.read_text())
