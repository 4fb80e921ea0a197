"""Benchmarks of stories: what each voice of a cast is given, and what it says.

Episodes (episodes.py) are scripted ones in a file, or made at random (making.py). A `Stage` (playing.py) plays them on
a real Agent, and a book of its own (book.py) says who saw what; leaks.py, twin.py and voices.py ask what came of it.
"""
