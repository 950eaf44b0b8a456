"""Why a candidate takes as long as predicted, and why longer than another: in words."""
