"""Losses and effects over numbers of samples: curves of controls, the course of each effect, what may lie beyond."""
