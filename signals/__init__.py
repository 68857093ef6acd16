"""What is measured, commanded, configured and published: one table makes every record."""
