//! A distributed lock without a lock server.
