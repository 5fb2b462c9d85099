"""Auxiliary heads on a net's body, each with the loss it trains on."""
