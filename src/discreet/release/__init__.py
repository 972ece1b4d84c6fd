"""What is public, and never the confidential table."""
