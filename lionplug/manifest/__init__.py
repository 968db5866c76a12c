"""The manifest of a bundle: pure data, read without importing or running anything."""
