"""Pictures of a position: state in, text out."""
