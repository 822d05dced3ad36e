import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How many pipelined requests of one connection may wait; browsers send none ahead. */
const MAX_WAITING = 64;

/**
 * Handles one request per connection at a time. Node would parse everything sent ahead and run all handlers at once.
 * A connection that sends too far ahead is closed.
 */
export function limitPipelining(listener: RequestListener): RequestListener {
  const waitingOf = new WeakMap<Socket, [IncomingMessage, ServerResponse][]>();

  const handle = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    // Emitted once the response was flushed, or the connection is gone.
    outgoing.once("close", () => handleNext(incoming.socket));
    listener(incoming, outgoing);
  };
  const handleNext = (socket: Socket) => {
    const next = socket.destroyed ? undefined : waitingOf.get(socket)?.shift();
    if (next) handle(...next);
    else waitingOf.delete(socket);
  };
  return (incoming, outgoing) => {
    const { socket } = incoming;
    const waiting = waitingOf.get(socket);
    if (waiting === undefined) {
      waitingOf.set(socket, []);
      handle(incoming, outgoing);
    } else if (waiting.length < MAX_WAITING) {
      waiting.push([incoming, outgoing]);
    } else {
      socket.destroy();
    }
  };
}
