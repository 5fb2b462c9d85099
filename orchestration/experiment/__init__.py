"""What studies and searches share: their folders, and `pipeline`, which runs trials with progress and stopping."""
