"""Cards in every state that people find them in, and what makes them."""
