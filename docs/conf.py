"""Sphinx configuration; built with warnings as errors by ``make test``."""

import lionplug

project = "lionplug"
author = "The lionplug developers"
copyright = author
version = release = lionplug.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
# Bundles contain Markdown of their own.
exclude_patterns = ["_build", "examples"]

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"

html_theme = "furo"
html_title = f"lionplug {release}"
