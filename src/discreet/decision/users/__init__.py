"""Those who use a release, and which mask serves them within a limit of risk."""
