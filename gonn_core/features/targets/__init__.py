"""What nets learn beside the move played: future boards, captures, ownership, legality."""
