"""Who stands out in a file of records."""
