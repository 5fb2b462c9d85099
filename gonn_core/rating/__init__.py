"""How strong players are, from the games between them: Bradley-Terry ratings in Elo, with what they are sure of."""
