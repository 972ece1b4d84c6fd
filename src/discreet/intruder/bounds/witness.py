"""How far cells vary for certain: tables that show it, and proofs that they go no further."""

from discreet.intruder.witness.proof import proven_bounds
from discreet.intruder.witness.search import Witnesses, witnesses

__all__ = ["Witnesses", "proven_bounds", "witnesses"]
