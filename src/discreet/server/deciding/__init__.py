"""Where requests are decided and written to the ledger: the only places that publish."""
