"""What an effect is worth: the loss of a control over samples, and how much more training would gain as much."""
