"""Methods that publish each record with its own ranges and sets."""
