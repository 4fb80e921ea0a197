"""Stories: who is spoken to, who is there, and how one begins."""
