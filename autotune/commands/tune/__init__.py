"""The main job: the command, its flow, its words."""
