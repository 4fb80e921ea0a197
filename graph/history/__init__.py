"""What a change would do, what undoes it, marks to come back to, and the memory as it was."""
