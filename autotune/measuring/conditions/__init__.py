"""The state of the host while candidates run: load, memory, energy, exclusive use of
the machine.
"""
