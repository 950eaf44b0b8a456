"""The check of a run's assertions as text, Markdown, JUnit XML and page."""
