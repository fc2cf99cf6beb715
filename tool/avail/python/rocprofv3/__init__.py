"""What rocprofv3 knows about agents and counters: see rocprofv3.avail."""
