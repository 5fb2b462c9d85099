"""The documents' claims beside what was found here: a measure for each source of numbers, and the table."""
