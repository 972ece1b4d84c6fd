"""A table server's mind: which requests for margins are answered, given all that is out."""

from discreet.decision.answering.answer import Answer, Outcome, Standing, Status, Why
from discreet.decision.answering.desk import Desk
from discreet.decision.answering.space import QuerySpace

__all__ = ["Answer", "Desk", "Outcome", "QuerySpace", "Standing", "Status", "Why"]
