"""Risk of a released file: identification, calibration, harm."""
