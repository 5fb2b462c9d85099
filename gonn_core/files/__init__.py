"""Files that are complete or absent, their checksums, JSON, growing arrays; locks between processes."""
