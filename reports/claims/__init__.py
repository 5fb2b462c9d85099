"""The documents' claims with what was found here: a measure for each source of numbers, and the table."""
