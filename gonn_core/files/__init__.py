"""Files that are whole or not there: bytes, JSON, arrays, folders under construction; locks between processes."""
