import { once } from "node:events";
import { createServer } from "node:net";

// Below the range from which systems take the ports of outgoing connections (from 32,768 on at Linux, 49,152
// at macOS): one of those could take the port before it is listened on.
const FROM = 20_000;
const TO = 32_000;

let next = FROM + Math.floor(Math.random() * (TO - FROM));

/** A free port, for a server that must know its URL before it listens. Never the same twice. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = port + 1 < TO ? port + 1 : FROM;
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
