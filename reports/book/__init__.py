"""The report over everything: a section a module, all written by `book`."""
