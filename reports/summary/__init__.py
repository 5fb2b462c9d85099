"""One page over several studies: every enhancement, the smallest effect it could have shown, its claim."""
