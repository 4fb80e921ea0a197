"""Understanding finished exchanges in the background: what they taught, with its proof, and how far to trust it."""
