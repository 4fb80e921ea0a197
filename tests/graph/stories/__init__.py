"""Stories: worlds of their own, whose members know what they saw."""
