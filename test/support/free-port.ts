import type { AddressInfo } from "node:net";
import { createServer } from "node:net";

/** Nobody listens on it at the moment: for what has to know its own address before it listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
