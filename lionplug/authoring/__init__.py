"""For authors of bundles: a linter and a template. Nothing of a bundle is imported or run."""
