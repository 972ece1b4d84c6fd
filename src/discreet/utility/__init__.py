"""What a release is worth."""
