"""How strong players are, from matches on disk: points and games, Bradley and Terry's ratings, intervals of shares.

Imports play.match for what a match's directory holds, and files.
"""
