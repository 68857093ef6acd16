"""What is published: topics, events, health."""
