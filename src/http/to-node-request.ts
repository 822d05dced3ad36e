import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

/**
 * A Fetch request with what we read of Node's requests, for hosts that call us with Fetch requests. The body
 * is pulled as it is consumed.
 * @param remoteAddress who sent it to this process
 */
export function toNodeRequest(request: Request, remoteAddress: string): IncomingMessage {
  const { pathname, search } = new URL(request.url);
  const reader = request.body?.getReader();
  const incoming = Object.assign(new Readable({ read: () => void pull() }), {
    method: request.method,
    url: `${pathname}${search}`,
    headers: Object.fromEntries(request.headers),
    socket: { remoteAddress },
    complete: false,
  });
  const pull = async () => {
    try {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      incoming.complete = done;
      incoming.push(done ? null : value);
    } catch (error) {
      incoming.destroy(error as Error);
    }
  };
  return incoming as unknown as IncomingMessage;
}
