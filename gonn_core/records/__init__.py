"""The position store: game archives in, mapped arrays, views, batches of rows out."""
