"""What tables, rates and totals tell of one person, company or value."""
