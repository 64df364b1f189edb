"""``python -m genial_env`` is the `genial` command."""

from genial_env.cli import main

main()
