"""Studies, revisions and machines beside one another: values, words, the page."""
