"""Log-linear models: fits, searches, spaces of models; shares that differ by domain."""
