"""The ledger: every request, decision and publication, append-only and chained by hashes."""
