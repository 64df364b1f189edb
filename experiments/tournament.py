"""Who is the strongest of the roster?

    pip install -e '.[fast,arena]'
    python -m experiments.tournament runs/ladder --groups 200 --workers 2

is `genial tournament`, by default between all scripted agents: everybody meets everybody on every seat with the same
deals, and the directory holds games, records, ratings with intervals, tables and pictures. Broken off, the same command
goes on where it was. The answer is docs/leaderboard.md.
"""

import sys

from genial_env import cli


def main() -> None:
    """As `genial tournament`."""
    sys.argv.insert(1, "tournament")
    cli.main()


if __name__ == "__main__":
    main()
