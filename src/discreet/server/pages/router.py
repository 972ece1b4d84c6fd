"""Every page."""

from fastapi import APIRouter

from discreet.server.pages.account import router as account
from discreet.server.pages.accounts import router as accounts
from discreet.server.pages.assets import router as assets
from discreet.server.pages.custodian import router as custodian
from discreet.server.pages.login import router as login
from discreet.server.pages.openid import router as openid
from discreet.server.pages.public import router as public
from discreet.server.pages.reference import router as reference
from discreet.server.pages.second_factor import router as second_factor
from discreet.server.pages.tables import router as tables
from discreet.server.pages.terms import router as terms

router = APIRouter(include_in_schema=False)
desks = (accounts, terms, custodian)  # names before data sets
for part in (assets, public, tables, reference, account, second_factor, openid, login, *desks):
    router.include_router(part)
