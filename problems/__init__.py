"""Ready robots and ready tasks."""
