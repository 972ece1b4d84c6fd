"""Beliefs by Markov chains over the tables that fit."""
