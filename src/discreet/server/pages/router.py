"""Every page."""

from fastapi import APIRouter

from discreet.server.pages.account import router as account
from discreet.server.pages.accounts import router as accounts
from discreet.server.pages.assets import router as assets
from discreet.server.pages.custodian import router as custodian
from discreet.server.pages.policy import router as policy
from discreet.server.pages.public import router as public

router = APIRouter(include_in_schema=False)
for part in (assets, public, account, accounts, policy, custodian):
    router.include_router(part)
