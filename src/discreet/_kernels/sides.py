"""Which way a sum is asked to go."""

RISE, FALL, SPREAD = 0, 1, 2
