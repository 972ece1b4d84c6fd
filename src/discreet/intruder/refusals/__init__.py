"""What a refusal tells: the tables for which the rule would have refused."""
