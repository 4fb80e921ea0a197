"""The widgets, a file for each part of the screen."""
