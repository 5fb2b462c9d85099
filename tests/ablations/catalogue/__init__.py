"""Enhancements by topic and words, names that were meant, drafts of cards."""
