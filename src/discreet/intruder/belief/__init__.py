"""A belief about one number or category: a predictive distribution."""
