"""The Agent Client Protocol, from the client's side, over the pipes of an agent's process.

The messages are those of the package `agent-client-protocol`. The connection is ours: the
package's own starts a task for each message and joins a line of any length, so that an agent that
floods us would grow our memory without end.
"""
