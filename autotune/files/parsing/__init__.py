"""Code that all readers of other tools' files share: text, JSON, separated values, XML, faults."""
