"""Screens: many enhancements varied at once in few runs (`DESIGN=screen`): which of them, and in which arms."""
