"""gangsched: an embeddable gang scheduler for PodGroups and CompositePodGroups."""
