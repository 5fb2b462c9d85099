"""Designs of many enhancements at once: interactions, and the command to run next."""
