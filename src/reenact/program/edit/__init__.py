"""From changes to edited text: one file for each kind of change."""
