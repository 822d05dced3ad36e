import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Received = { headers: IncomingHttpHeaders; body: string; event: ReceivedEvent };

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

/** An endpoint on this machine; answers 204 unless told otherwise. */
export async function startReceiver(
  answer: Answer = (response) => void response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const one = { headers: request.headers, body, event: JSON.parse(body) as ReceivedEvent };
      received.push(one);
      answer(response, one);
    });
  });
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}
