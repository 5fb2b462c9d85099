"""The GoNN family: stem, trunk of blocks, policy head (spec: GoNN 2, 3)."""
