import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How many pipelined requests of one connection may wait; browsers send none ahead. */
const MAX_WAITING = 64;

type Connection = { isBusy: boolean; waiting: [IncomingMessage, ServerResponse][] };

/**
 * Handles one request per connection at a time. Node would parse everything sent ahead and run all handlers
 * at once. A connection that sends too far ahead is closed.
 */
export function limitPipelining(listener: RequestListener): RequestListener {
  const connections = new WeakMap<Socket, Connection>();

  const handle = (connection: Connection, incoming: IncomingMessage, outgoing: ServerResponse) => {
    connection.isBusy = true;
    // Emitted once the response was flushed, or the connection is gone.
    outgoing.once("close", () => {
      connection.isBusy = false;
      const next = incoming.socket.destroyed ? undefined : connection.waiting.shift();
      if (next) handle(connection, ...next);
      else connection.waiting.length = 0;
    });
    listener(incoming, outgoing);
  };
  return (incoming, outgoing) => {
    const { socket } = incoming;
    let connection = connections.get(socket);
    if (connection === undefined) {
      connection = { isBusy: false, waiting: [] };
      connections.set(socket, connection);
    }
    if (!connection.isBusy) handle(connection, incoming, outgoing);
    else if (connection.waiting.length < MAX_WAITING) connection.waiting.push([incoming, outgoing]);
    else socket.destroy();
  };
}
