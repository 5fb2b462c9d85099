"""The GoNN family: stem, trunk of blocks, policy head (spec: GoNN 2, 3).

Imports policy_net, parts and init.
"""
