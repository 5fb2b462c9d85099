"""What there is to choose from: enhancements by topic and by words, names for mistyped ones, drafts of new cards, and
whether everything that tells of a card was written.
"""
