import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { cleanedUp } from "./cleanup.ts";

/**
 * What happens to bytes on their way; a held direction is a network that loses packets: they arrive when it
 * is back.
 */
type Conditions = { delayMs: number; toServer: "flows" | "held"; toClient: "flows" | "held" };

export type TcpProxy = {
  port: number;
  /** Where new connections lead. */
  leadTo(port: number): void;
  /** For all connections, those that are open included. */
  set(conditions: Partial<Conditions>): void;
  /** Breaks all connections, with what is on its way in them, and new ones until `restore`. */
  cut(): void;
  restore(): void;
  close(): Promise<void>;
};

const UNDISTURBED: Conditions = { delayMs: 0, toServer: "flows", toClient: "flows" };

/** The network between two parts, which a test can cut, slow down and make one-sided. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  let target = targetPort;
  let conditions = UNDISTURBED;
  let isCut = false;
  const sockets = new Set<Socket>();
  const directions = new Set<Direction>();

  const server = createServer((client) => {
    if (isCut) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(target, "127.0.0.1");
    const pair = [
      new Direction(client, upstream, () => ({ ...conditions, state: conditions.toServer })),
      new Direction(upstream, client, () => ({ ...conditions, state: conditions.toClient })),
    ];
    for (const direction of pair) directions.add(direction);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    }
    upstream.on("close", () => {
      for (const direction of pair) directions.delete(direction);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const set: TcpProxy["set"] = (changed) => {
    conditions = { ...conditions, ...changed };
    for (const direction of directions) direction.forward();
  };
  const breakAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (port) => {
      target = port;
    },
    set,
    cut: () => {
      isCut = true;
      breakAll();
    },
    restore: () => {
      isCut = false;
      set(UNDISTURBED);
    },
    close: cleanedUp(async () => {
      server.close();
      breakAll();
    }),
  };
}

/** The bytes from one socket to the other, in order. */
class Direction {
  readonly #to: Socket;
  readonly #now: () => { delayMs: number; state: "flows" | "held" };
  readonly #waiting: { bytes: Buffer | "end"; dueMs: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(from: Socket, to: Socket, now: () => { delayMs: number; state: "flows" | "held" }) {
    this.#to = to;
    this.#now = now;
    from.on("data", (bytes) => this.#add(bytes as Buffer));
    from.on("end", () => this.#add("end"));
    from.on("error", () => to.destroy());
    from.on("close", () => this.#add("end"));
  }

  #add(bytes: Buffer | "end"): void {
    this.#waiting.push({ bytes, dueMs: performance.now() + this.#now().delayMs });
    this.forward();
  }

  forward(): void {
    clearTimeout(this.#timer);
    if (this.#now().state === "held") return;
    while (this.#waiting.length > 0) {
      const [{ bytes, dueMs }] = this.#waiting as [{ bytes: Buffer | "end"; dueMs: number }];
      const inMs = dueMs - performance.now();
      if (inMs > 0) {
        this.#timer = setTimeout(() => this.forward(), inMs);
        return;
      }
      this.#waiting.shift();
      if (bytes === "end") this.#to.end();
      else if (this.#to.writable) this.#to.write(bytes);
    }
  }
}
