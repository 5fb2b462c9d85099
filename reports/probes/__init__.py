"""What trained nets answer in positions whose answer is known: scores, tables, pictures."""
