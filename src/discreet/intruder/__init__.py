"""What follows from a release, and what is probable: takes a release, never the table."""
