import sys
from pathlib import Path

# modules of this folder are shared by its tests
sys.path.insert(0, str(Path(__file__).parent))
