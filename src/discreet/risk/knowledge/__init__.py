"""What a release teaches about one person, and rules that limit it."""
