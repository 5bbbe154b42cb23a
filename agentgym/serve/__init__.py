"""The environments over HTTP and WebSocket.

One process, the front, speaks HTTP; worker processes hold the environments, each worker those of
one environment id. What happens on the way from a request to an environment:

- a router (`api`, `dialects`) turns a request into a call on the `SessionStore`;
- the store (`store`) knows which worker has a session, how much room there is, what has expired;
- a worker process (`worker`) has the sessions (`session`) and answers with JSON the front passes
  on unread.

So an environment that blocks or crashes takes none but its own kind with it, and the front does
no more for a step than find a worker.
"""
