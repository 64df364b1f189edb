"""Game records: write, read, replay, and what one seat may be told of them."""
