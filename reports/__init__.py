"""What was found, from trial directories and study files alone: statistics, verdicts, tables, figures, pages."""
