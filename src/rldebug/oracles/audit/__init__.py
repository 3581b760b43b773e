"""The transition audit: buffers are fed with rows that tell where they come from, and what comes out is checked."""
