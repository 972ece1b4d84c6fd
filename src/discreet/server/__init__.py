"""The table server: a desk that answers requests, and the web application around it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.decision.answering.answer import Answer as Answer
    from discreet.decision.answering.desk import Desk as Desk
    from discreet.decision.answering.simulatable import simulatable_refuses as simulatable_refuses
    from discreet.decision.answering.simulatable import simulatable_rule as simulatable_rule
    from discreet.server.app import create_app as create_app
    from discreet.server.launch import DataSpec as DataSpec
    from discreet.server.launch import prepare as prepare
    from discreet.server.launch import serve as serve
    from discreet.server.settings import Settings as Settings

_HOMES = {
    "Answer": "decision.answering.answer",
    "DataSpec": "server.launch",
    "Desk": "decision.answering.desk",
    "Settings": "server.settings",
    "create_app": "server.app",
    "prepare": "server.launch",
    "serve": "server.launch",
    "simulatable_refuses": "decision.answering.simulatable",
    "simulatable_rule": "decision.answering.simulatable",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """What is asked for, imported then: the web stays out of whatever only counts."""
    if name not in _HOMES:
        raise AttributeError(f"discreet.server has no {name!r}; it has {', '.join(__all__)}.")
    return getattr(import_module(f"discreet.{_HOMES[name]}"), name)
