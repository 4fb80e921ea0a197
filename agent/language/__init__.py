"""What people say, sentence by sentence: which words are their own, and which are asked, quoted, supposed or pasted."""
