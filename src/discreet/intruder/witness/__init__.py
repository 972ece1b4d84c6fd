"""Tables that fit a release and prove how far its cells vary."""
