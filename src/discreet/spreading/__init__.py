"""The one way in which independent work is spread: over threads, processes or a cluster."""

from discreet.spreading.crew import cores, far, workers
from discreet.spreading.work import Spread, in_threads, spread

__all__ = ["Spread", "cores", "far", "in_threads", "spread", "workers"]
