"""An application on a port of this machine, for clients that know nothing of it."""

import logging
import socket
import threading
from contextlib import contextmanager

import uvicorn


@contextmanager
def serving(world):
    """The address of a world's application, with uvicorn in a thread."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        world.app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


def quiet_import():
    """pyaxis, which would set up the log of everybody else when it is imported."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    from pyaxis import pyaxis

    root.handlers[:] = handlers
    root.setLevel(level)
    return pyaxis
