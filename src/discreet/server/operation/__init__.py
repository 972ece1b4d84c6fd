"""Health, metrics, logs and what is done every few seconds."""
