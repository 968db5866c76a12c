"""Where the code of plugins is imported, and nowhere else: importer, proxies, stand-ins."""
