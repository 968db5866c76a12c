"""The inventory: every copy of every plugin in exactly one state."""
