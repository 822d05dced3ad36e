import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Closes idle connections, but none whose client has yet to read the rest of its response: Node.js counts a connection as idle
 * once its response is written, and what the system has not taken yet would be lost.
 * @param open the server's connections
 */
export function closeIdleConnections(server: Server, open: Iterable<Socket>): void {
  const unread = [...open].filter((socket) => socket.writableLength > 0);
  // Node.js does not say which ones are idle: shield these from it.
  for (const socket of unread) socket.destroy = () => socket;
  server.closeIdleConnections();
  for (const socket of unread) delete (socket as Partial<Socket>).destroy;
}
