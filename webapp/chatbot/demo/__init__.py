"""A small chatbot over the sample's catalogue: three honest searches, no language model.

It speaks the same contract as the chatbots that are evaluated, so that the whole method can
be tried on one machine. It fails where such methods fail.
"""
