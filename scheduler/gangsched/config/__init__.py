"""KubeSchedulerConfiguration v1 and feature gates, read strictly into profiles (spec node-plugins.md §1-2)."""

from gangsched.config.describe import Description, PluginRow, Setting, describe
from gangsched.config.gates import FeatureGates
from gangsched.config.group_scheduling import check_choices, override, parse_choices
from gangsched.config.load import default_config, load_config
from gangsched.config.model import SchedulerConfig
from gangsched.config.problems import ConfigFileError

__all__ = [
    "ConfigFileError",
    "Description",
    "FeatureGates",
    "PluginRow",
    "SchedulerConfig",
    "Setting",
    "check_choices",
    "default_config",
    "describe",
    "load_config",
    "override",
    "parse_choices",
]
