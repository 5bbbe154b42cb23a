"""The other end: an environment of a server, played as if it were here.

Nothing here needs what the server needs; `problem` is all the two share. A remote environment is a
`TextEnv` (`env`) on a session (`session`), which makes calls on a service (`service`): the service
asks again where a call fails on its way, over connections kept open between calls (`connection`).
"""
