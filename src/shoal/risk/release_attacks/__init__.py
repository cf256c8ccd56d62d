"""Four attacks on any release: singling out, linkability, inference, membership."""
