"""What a tool's source says about its arguments, found without importing or trusting it.

Foreign source is parsed in a helper process with hard limits, and what that process
answers is itself treated as hostile data (security rule S36).
"""

from __future__ import annotations

from lionplug.sources.encoding import declared_encoding, is_utf8_name
from lionplug.sources.reader import Signatures, read_signatures
from lionplug.sources.signature import Parameter, SourceSignature
from lionplug.sources.unread import Unread

__all__ = [
    "Parameter",
    "Signatures",
    "SourceSignature",
    "Unread",
    "declared_encoding",
    "is_utf8_name",
    "read_signatures",
]
