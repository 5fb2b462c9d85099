"""Tables as plain data, and how numbers are written in them."""
