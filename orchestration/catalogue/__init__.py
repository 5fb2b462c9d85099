"""What there is to compare, shown and added to: `gonn list`, `gonn show`, `gonn check`, `gonn new-card`."""
