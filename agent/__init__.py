"""The loop: prompt, generate, persist; the one service under every face of clew."""
