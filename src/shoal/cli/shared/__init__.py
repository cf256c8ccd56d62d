"""What the commands share: sources, options, output."""
