"""Beliefs averaged over models, how well each predicts, and how much the prior matters."""
