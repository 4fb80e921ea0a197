"""References: addresses, what a site sends, and what is read of it."""
