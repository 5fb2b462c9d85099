"""Enhancements listed, shown, checked, drafted."""
