"""discreet: decide what can be published from confidential data.

What most users need is here; the rest is in a few modules: `codebooks`, `results`, `linkage`,
`anonymity`, `files`, `synthetic`, `worth`, `survey`, `office`, `users`, `beliefs`, `uncertainty`,
`frontiers` and `server`.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.core import *  # noqa: F403

MODULES = (
    "anonymity", "beliefs", "codebooks", "files", "frontiers", "linkage", "office", "results",
    "server", "survey", "synthetic", "uncertainty", "users", "worth",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if find_spec(f"discreet.{name}"):
        return import_module(f"discreet.{name}")
    core = import_module("discreet.core")
    if name in core.__all__:
        return getattr(core, name)
    for module in () if name.startswith("_") else MODULES:
        if name in getattr(import_module(f"discreet.{module}"), "__all__", ()):
            raise AttributeError(f"discreet has {name!r} in a module: write dc.{module}.{name}.")
    raise AttributeError(f"discreet has no {name!r}; it has {', '.join(__dir__())}.")


def __dir__() -> list[str]:
    return sorted([*import_module("discreet.core").__all__, *MODULES])
