"""What programs read of a study, in rows and pages."""
