"""The verbs: one public function each, its steps listed first."""
