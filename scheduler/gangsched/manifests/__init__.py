"""Manifests of Kubernetes objects, YAML or JSON, to objects of the framework, strictly (architecture.md §1, §7)."""

from gangsched.manifests.context import Defaults
from gangsched.manifests.decoder import Decoder
from gangsched.manifests.errors import InputError
from gangsched.manifests.files import Loaded, read_files
from gangsched.manifests.patch import apply_merge_patch

__all__ = ["Decoder", "Defaults", "InputError", "Loaded", "apply_merge_patch", "read_files"]
