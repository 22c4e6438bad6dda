"""Past runs as traces: TensorBoard event files and CSV logs, as far as they carry the facts."""
