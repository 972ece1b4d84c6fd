"""What stands before every request: sizes, rates, origins, errors of one shape."""
