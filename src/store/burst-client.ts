import { Socket } from "node:net";
import pg from "pg";

/**
 * A client that sends the statements of one turn of the event loop with one system call. The driver writes each
 * separately; on loopback that is most of what a transaction costs this process.
 */
export class BurstClient extends pg.Client {
  readonly #socket: Socket;
  #held = false;

  constructor(config: pg.ClientConfig = {}) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
  }

  /** Buffers writes until this turn of the event loop is over. */
  burst(): void {
    if (this.#held) return;
    this.#held = true;
    this.#socket.cork();
    // Not setImmediate, which would wait for other work.
    process.nextTick(() => {
      this.#held = false;
      this.#socket.uncork();
    });
  }
}
