"""Add pages to the documentation that do not lie in docs/: the notebooks and the changelog. A hook of MkDocs."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent


@event_priority(100)  # before mkdocs-jupyter looks for notebooks
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files."""
    for path in (*sorted((ROOT / "notebooks").glob("*.ipynb")), ROOT / "CHANGELOG.md"):
        name = path.relative_to(ROOT).as_posix()
        files.append(File(name, str(ROOT), config.site_dir, config.use_directory_urls))
    return files
