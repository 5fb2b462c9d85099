"""WHAT is compared: declarations (YAML in cards, bases, budgets and so on), their schema, designs. No training code."""
