"""What came of games: matches, ratings, ladders, strength against loss."""
