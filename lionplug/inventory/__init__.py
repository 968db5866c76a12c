"""The inventory: every copy of every plugin in exactly one state (DESIGN §4.2)."""
