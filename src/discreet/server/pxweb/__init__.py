"""Published tables as PxWeb serves them, so that its clients can read them unchanged."""
