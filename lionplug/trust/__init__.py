"""Trust: what a person approved, the copies of it that run, and what is shown before.

:mod:`~lionplug.trust.digest` names a tree by its content, :mod:`~lionplug.trust.staging`
makes the private copy that is looked at and asked about, :mod:`~lionplug.trust.store`
keeps the approved copies, :mod:`~lionplug.trust.trust_file` keeps the answers.
"""
