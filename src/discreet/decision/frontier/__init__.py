"""What could be released at most."""
