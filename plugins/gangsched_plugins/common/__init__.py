"""What several plugins compute alike: selectors, tolerations, label syntax, normalising, integer arithmetic."""
