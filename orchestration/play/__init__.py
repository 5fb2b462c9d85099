"""Nets that play: matches, self-play, ratings, and the engine that controllers talk to."""
