"""llama.cpp: find, fetch, load, generate, embed."""
