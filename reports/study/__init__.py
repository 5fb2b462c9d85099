"""The report of one study: its tables and notes, its page, its files."""
