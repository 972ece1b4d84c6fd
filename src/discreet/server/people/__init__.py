"""Accounts, logins and who did what."""
