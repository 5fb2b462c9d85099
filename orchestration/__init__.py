"""What runs when, and what is reported: the command, planning, runners, tracking, searches, matches."""
