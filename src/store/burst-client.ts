import { Socket } from "node:net";
import pg from "pg";

/**
 * A client whose statements leave with one system call when they are sent in one turn of the event loop. The driver
 * writes each by itself; on loopback that is most of what a transaction costs this process.
 */
export class BurstClient extends pg.Client {
  readonly #socket: Socket;
  #held = false;

  constructor(config: pg.ClientConfig = {}) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
  }

  /** Holds back what is written until this turn is over. */
  burst(): void {
    if (this.#held) return;
    this.#held = true;
    this.#socket.cork();
    // setImmediate would wait for other work; the microtasks of this turn are all that belongs together.
    process.nextTick(() => {
      this.#held = false;
      this.#socket.uncork();
    });
  }
}
