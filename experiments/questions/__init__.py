"""A paper as questions: resolved once, so that whoever judges needs neither its file nor its studies."""
