"""Any OpenAI-compatible chat endpoint as a summarizer: two steps per document, streamed, checked, bounded."""
