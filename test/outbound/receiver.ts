import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { startHttpServer } from "../support/http.ts";

type Received = { headers: IncomingHttpHeaders; body: string; event: ReceivedEvent; connection: Socket };

type ReceivedEvent = {
  id: string;
  type: string;
  occurredAt: string;
  version: string;
  data: Record<string, unknown> & { subscription?: { id: string; seats: number } };
};

export type Receiver = {
  url: string;
  /** Every request, in the order in which they came. */
  received: Received[];
  close(): Promise<void>;
};

type Answer = (response: ServerResponse, request: Received) => void;

/** An endpoint on this machine; answers 204 by default. */
export async function startReceiver(
  answer: Answer = (response) => void response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const server = await startHttpServer(async (incoming, response) => {
    const body = await text(incoming);
    const event = JSON.parse(body) as ReceivedEvent;
    const request = { headers: incoming.headers, body, event, connection: incoming.socket };
    received.push(request);
    answer(response, request);
  });
  return { url: `${server.url}/hook`, received, close: server.close };
}
