"""What maintainers of this repository run; no part of the product, which never imports it."""
