"""What designs of many enhancements at once tell beside main effects: interactions, and what to do next."""
