"""The pages of the server: for the public, and for custodians and auditors behind a login."""

from discreet.server.pages.errors import error_page
from discreet.server.pages.router import router

__all__ = ["error_page", "router"]
