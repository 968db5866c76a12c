"""The lionplug_hookspecs package."""
