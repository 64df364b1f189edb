"""Matches between two agents and tournaments between many, with sequential tests, ratings and confidence intervals.

Terms in all modules:

- *deal* (``group`` in code and stored files): the games with the same seed. In each deal every lineup plays once in
  every rotation of the seats.
- *lineup*: the agents of one game. *Entrant*: the index of an agent in the settings.
- *pair*: two games of a match with the same deal and swapped seats.
- *forfeit*: a loss because the agent raised an error, chose an illegal action or did not answer.
- *session*: one run of the program that played a part of a tournament.
"""

__all__: list[str] = []
