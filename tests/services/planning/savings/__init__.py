"""The judgments that rating by effect saves on recorded studies: a page with its picture."""
