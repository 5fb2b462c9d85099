"""What a learning-rate search found: curve, table, figure."""
