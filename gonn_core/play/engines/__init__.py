"""GTP engines as opponents: their processes and boards, players made of them, their games with themselves."""
