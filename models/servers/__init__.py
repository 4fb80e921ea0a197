"""Models that run elsewhere: on a llama-server, or behind an OpenAI-compatible address."""
