"""The encoder family of the lczero fork: each point a token (spec: other systems 3).

Imports policy_net, parts and init; of the GoNN family its number of published planes.
"""
